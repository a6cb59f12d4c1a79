"""What the notes' small stem costs ResNet-18 on small images, beside the original one."""

from functools import partial

import torch
from torch import nn

from lab.core.shared_params import Stem
from lab.machine.devices import Devices
from lab.nets.flops import forward_cost
from lab.nets.resnet import resnet18
from lab.results.measurements import Measurement
from lab.timing.bench import in_unit, time_variants
from stages.bench_hardware.measure.names import COUNTED_GFLOP, ORIGINAL_STEM, SMALL_STEM, STEM
from stages.bench_hardware.measure.params import Params
from stages.bench_hardware.measure.roofline import images_on

STEMS: dict[str, Stem] = {SMALL_STEM: "small", ORIGINAL_STEM: "original"}


def count_stems(params: Params, target: Devices) -> list[Measurement]:
    """GFLOP of a forward pass of a batch with each stem."""
    costs = {
        variant: forward_cost(_net(stem, params), _shape(params, target))
        for variant, stem in STEMS.items()
    }
    return [
        Measurement(COUNTED_GFLOP, variant, cost.params, (cost.flop / 1e9,), "GFLOP", target.kind)
        for variant, cost in costs.items()
    ]


def measure_stems(params: Params, target: Devices, start: int) -> list[Measurement]:
    """Milliseconds of a pass without gradients, with each stem in turn; x: images."""
    device, shape = target.devices[0], _shape(params, target)
    torch.set_num_threads(max(1, target.threads))
    X = torch.rand(*shape).to(device, memory_format=torch.channels_last)
    variants = {
        variant: partial(torch.inference_mode()(_net(stem, params).to(device)), X)
        for variant, stem in STEMS.items()
    }
    return in_unit(
        STEM, len(X), time_variants(variants, target.devices, params.bench, start), "ms", target
    )


def _net(stem: Stem, params: Params) -> nn.Module:
    return resnet18(torch.Generator().manual_seed(params.seed), stem).eval()


def _shape(params: Params, target: Devices) -> tuple[int, ...]:
    return images_on(target, params.bench_hardware.stem_batch_size), 1, 28, 28
