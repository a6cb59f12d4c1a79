"""FLOP of a training step per byte of parameters, counted for the notes' networks and others."""

from collections.abc import Iterator, Sequence

import torch
from torch import nn

from lab.machine.torchvision_import import torchvision
from lab.nets.flops import training_flop
from lab.nets.models import MODELS
from lab.results.curves import Curve, line
from stages.parallelism.measure.names import (
    ALEXNET,
    COUNTED,
    FLOP_PER_BYTE,
    GOOGLENET,
    INCEPTION_V3,
    LENET,
    RESNET_18,
    RESNET_50,
    SMALL_RESNET_18,
)

Networks = dict[str, tuple[nn.Module, tuple[int, ...]]]


def measure_ratio(batch_sizes: Sequence[int]) -> Iterator[Curve]:
    """Each network's FLOP per byte of parameters by images per step, and both alone."""
    images = [1, *batch_sizes]
    for name, (net, shape) in networks().items():
        flop = training_flop(net.eval(), (1, *shape))
        size = 4 * sum(p.numel() for p in net.parameters())
        yield line(FLOP_PER_BYTE, name, images, [n * flop / size for n in images])
        yield line(COUNTED, name, [size / 1e6], [flop / 1e9])


def networks() -> Networks:
    """The networks, each with the shape of its images; torchvision's draw no weights."""
    generator, models = torch.Generator(), torchvision.models
    with torch.device("meta"):
        published: dict[str, tuple[nn.Module, int]] = {
            ALEXNET: (models.alexnet(), 224),
            GOOGLENET: (models.googlenet(init_weights=False, aux_logits=False), 224),
            INCEPTION_V3: (models.inception_v3(init_weights=False, aux_logits=False), 299),
            RESNET_18: (models.resnet18(), 224),
            RESNET_50: (models.resnet50(), 224),
        }
    notes = {LENET: MODELS["lenet"](generator), SMALL_RESNET_18: MODELS["resnet18"](generator)}
    small: Networks = {name: (net, (1, 28, 28)) for name, net in notes.items()}
    return small | {name: (net, (3, side, side)) for name, (net, side) in published.items()}
