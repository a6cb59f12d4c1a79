"""Networks for the roofline: FLOP and bytes counted, the rate of a forward pass measured."""

from collections.abc import Callable
from functools import partial

import torch
from torch import nn

from lab.machine.devices import Devices
from lab.machine.torchvision_import import torchvision
from lab.nets.flops import forward_cost
from lab.nets.models import MODELS
from lab.results.measurements import Measurement
from lab.timing.bench import time_arms
from stages.bench_hardware.names import ALEXNET, COUNTED, GOOGLENET, LENET, NETWORK, RESNET
from stages.bench_hardware.params import Params
from stages.bench_hardware.rates import gflop_per_s

FASHION, IMAGENET = (1, 28, 28), (3, 224, 224)
NETS: dict[str, tuple[Callable[[torch.Generator], nn.Module], tuple[int, int, int]]] = {
    LENET: (MODELS["lenet"], FASHION),
    RESNET: (MODELS["resnet18"], FASHION),
    ALEXNET: (lambda _: torchvision.models.alexnet(), IMAGENET),
    GOOGLENET: (
        lambda _: torchvision.models.googlenet(init_weights=False, aux_logits=False),
        IMAGENET,
    ),
}


def measure_networks(params: Params, devices: Devices) -> list[Measurement]:
    """Each network's counted GFLOP and GB of a batch, and its rate without gradients."""
    device, measured = devices.devices[0], []
    # on by default for convolutions, under float32's name: the roof would be another one
    torch.backends.cudnn.allow_tf32 = False
    for arm, (make_net, image_shape) in NETS.items():
        shape = (params.bench_hardware.batch_size, *image_shape)
        net = make_net(torch.Generator().manual_seed(params.seed)).eval()
        cost = forward_cost(net, shape)
        net.to(device).to(memory_format=torch.channels_last)  # type: ignore[call-overload]
        X = torch.rand(*shape).to(device, memory_format=torch.channels_last)
        forward = partial(torch.inference_mode()(net), X)
        times = time_arms({arm: forward}, devices.devices, params.bench)
        counted = (cost.flop / 1e9, cost.num_bytes / 1e9)
        measured += [
            *gflop_per_s(NETWORK, round(cost.intensity, 4), times, cost.flop, devices),
            Measurement(COUNTED, arm, cost.params, counted, "GFLOP, GB", devices.kind),
        ]
    return measured
