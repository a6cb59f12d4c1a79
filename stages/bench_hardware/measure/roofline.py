"""Networks for the roofline: FLOP and bytes counted, the rate of a forward pass measured."""

from collections.abc import Callable
from functools import partial

import torch
from torch import Tensor, nn

from lab.machine.devices import Devices, processor, resolve, usable_cores
from lab.machine.torchvision_import import torchvision
from lab.nets.flops import Cost, forward_cost
from lab.nets.models import MODELS
from lab.results.measurements import Measurement
from lab.timing.bench import time_variants
from stages.bench_hardware.measure.names import (
    ALEXNET,
    COUNTED_GFLOP,
    GOOGLENET,
    LENET,
    NETWORK,
    RESNET,
)
from stages.bench_hardware.measure.params import Params
from stages.bench_hardware.measure.rates import gflop_per_s

GPU_BATCH_SIZE = 256  # at least, the notes' for one GPU: fewer images are mostly launches
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


def network_device(params: Params) -> Devices:
    """What the networks run on: a GPU, or all of the processor's cores."""
    devices = resolve(1, params.devices)
    return processor(usable_cores()) if devices.kind == "cpu-virtual" else devices


def images_on(target: Devices, asked: int) -> int:
    """The images of a pass: as many as asked, and on a GPU enough that launches are not most."""
    return max(asked, GPU_BATCH_SIZE if target.devices[0].type == "cuda" else 1)


def count_networks(params: Params, target: Devices) -> list[Measurement]:
    """GFLOP of each network's forward pass of a batch."""
    costs = {variant: _network(params, variant, target)[2] for variant in NETS}
    return [
        Measurement(COUNTED_GFLOP, variant, cost.params, (cost.flop / 1e9,), "GFLOP", target.kind)
        for variant, cost in costs.items()
    ]


def measure_networks(params: Params, target: Devices, start: int) -> list[Measurement]:
    """Each network's rate without gradients, in turn with the others'; x: FLOP per byte."""
    device = target.devices[0]
    torch.set_num_threads(max(1, target.threads))
    variants, costs = {}, {}
    for variant in NETS:
        net, X, costs[variant] = _network(params, variant, target)
        net.to(device).to(memory_format=torch.channels_last)  # type: ignore[call-overload]
        X = X.to(device, memory_format=torch.channels_last)
        variants[variant] = partial(torch.inference_mode()(net), X)
    times = time_variants(variants, target.devices, params.bench, start)
    return [
        measurement
        for variant, cost in costs.items()
        for measurement in gflop_per_s(
            NETWORK,
            round(cost.intensity, 4),
            {variant: times[variant]},
            {variant: cost.flop},
            target,
        )
    ]


def _network(params: Params, variant: str, target: Devices) -> tuple[nn.Module, Tensor, Cost]:
    """A network on the CPU, a batch of images for it, and what its forward pass costs."""
    make_net, image_shape = NETS[variant]
    shape = (images_on(target, params.bench_hardware.batch_size), *image_shape)
    net = make_net(torch.Generator().manual_seed(params.seed)).eval()
    return net, torch.rand(*shape), forward_cost(net, shape)
