"""The time that a step's calls take: Python, and what the framework does around kernels.

The notes train on two devices by calling everything from one Python thread, shard after shard. We
time the same calls with a net of one channel and one image per shard. They have hardly any
arithmetic, so their time is the least that a step takes.
"""

from collections.abc import Sequence
from functools import partial

import torch
import torch.nn.functional as F
from torch import Tensor

from lab.data.images import LabelledImages
from lab.machine.devices import Devices
from lab.nets.lenet import lenet, lenet_params
from lab.nets.models import to_float
from lab.parallel.replicas import allreduce, grad_of, sgd, split_batch
from lab.results.measurements import Measurement, again
from lab.timing.bench import in_unit, time_variants
from stages.bench_input.measure.params import Params

LR = 0.01
SMALL_BATCH = 16  # images, in addition to the batch size of params.yaml
SHARDS = 2
ONE_CHANNEL = ((1, 1, 3, 3), (1,), (1, 1, 5, 5), (1,), (16, 1), (1,), (1, 10), (10,))  # of lenet


def step(
    batch: LabelledImages,
    device_params: Sequence[Sequence[Tensor]],
    devices: Sequence[torch.device],
) -> None:
    """Train on a batch as in the notes: device after device, tensor after tensor."""
    X_shards, y_shards = split_batch(*batch, devices)
    losses = [
        F.cross_entropy(lenet(X, list(params)), y, reduction="none").sum()
        for X, y, params in zip(X_shards, y_shards, device_params, strict=True)
    ]
    for loss in losses:
        loss.backward()
    with torch.no_grad():
        for same in zip(*device_params, strict=True):
            allreduce([grad_of(p) for p in same])
    for params in device_params:
        sgd(params, LR, len(batch[1]))


def copies(params: Sequence[Tensor], devices: Sequence[torch.device]) -> list[list[Tensor]]:
    """Copy parameters to each device, with gradients (the notes' `get_params`)."""
    return [[p.clone().to(device).requires_grad_() for p in params] for device in devices]


def measure_python(
    params: Params, resident: LabelledImages, devices: Devices, process: int
) -> list[Measurement]:
    """Time the notes' step at two batch sizes, and only its calls; x: images."""
    two = [devices.devices[0], devices.devices[-1]]
    generator = torch.Generator().manual_seed(params.seed)
    full = lenet_params(generator)
    thin = [torch.randn(shape, generator=generator) for shape in ONE_CHANNEL]
    sizes = sorted({SMALL_BATCH, params.bench_input.batch_size})
    calls = "its calls alone"
    variants = {
        f"{size} images": partial(step, _batch(resident, size), copies(full, two), two)
        for size in sizes
    }
    variants[calls] = partial(step, _batch(resident, SHARDS), copies(thin, two), two)
    times = time_variants(variants, two, params.bench, process, control=calls)
    alone = {variant: times[variant] for variant in (calls, again(calls))}
    return [
        *(
            measurement
            for size in sizes
            for measurement in in_unit(
                "python", size, {"step": times[f"{size} images"]}, "ms", devices
            )
        ),
        *in_unit("python", SHARDS, alone, "ms", devices),
    ]


def _batch(resident: LabelledImages, size: int) -> LabelledImages:
    return to_float(resident[0][:size]), resident[1][:size]
