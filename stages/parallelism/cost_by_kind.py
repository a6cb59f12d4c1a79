"""What each kind of parallelism moves, holds and leaves idle in a step of LeNet."""

import copy
from collections.abc import Iterator
from functools import partial

import numpy as np
import torch
from torch import nn

from lab.data.datasets import Split
from lab.data.images import to_float, to_tensors
from lab.machine.devices import Devices
from lab.nets.models import LeNet
from lab.results.curves import Curve, line
from stages.parallelism.data_parallel import data_parallel
from stages.parallelism.names import (
    ACTIVATIONS_MB,
    DATA,
    DIFFERENCE_EPS,
    HELD_MB,
    IDLE_BY_FLOP_PERCENT,
    IDLE_PERCENT,
    MOVED_MB,
    ONE,
    PARAMS_MB,
    PIPELINE,
    TENSOR,
    in_micro_batches,
    on_devices,
)
from stages.parallelism.params import ParallelismParams
from stages.parallelism.pipeline import flop_of_parts, pipeline
from stages.parallelism.pipeline_schedule import idle_share, schedule
from stages.parallelism.step import Kind, Step, difference
from stages.parallelism.tensor_parallel import tensor_parallel


def measure_kinds(
    params: ParallelismParams, devices: Devices, images: Split, seed: int
) -> Iterator[Curve]:
    """Each kind's MB moved and held by batch size, idle time, and difference of the gradient."""
    net, sizes = LeNet(torch.Generator().manual_seed(seed)), params.batch_sizes
    bytes_of_images, y = to_tensors(images)
    X = to_float(bytes_of_images)
    exact, few = copy.deepcopy(net).double(), (X[: sizes[0]].double(), y[: sizes[0]])
    reference = data_parallel(exact, *few, devices.devices[:1])
    for name, kind, count in _arms(params):
        steps = [kind(net, X[:n], y[:n], devices.devices[:count]) for n in sizes]
        yield from _costs(name, sizes, steps)
        apart = difference(kind(exact, *few, devices.devices[:count]), reference)
        yield line(DIFFERENCE_EPS, name, sizes[:1], [apart / np.finfo(float).eps])
        yield line(IDLE_PERCENT, name, sizes, [100 * step.idle for step in steps])
    yield from _idle_by_flop(params, net)


def _arms(params: ParallelismParams) -> Iterator[tuple[str, Kind, int]]:
    """The series that are measured, each with its kind and its number of devices."""
    in_parts = partial(pipeline, num_micro_batches=params.num_micro_batches)
    kinds: dict[str, Kind] = {
        DATA: data_parallel,
        PIPELINE: pipeline,
        in_micro_batches(params.num_micro_batches): in_parts,
        TENSOR: tensor_parallel,
    }
    yield ONE, data_parallel, 1
    for count in params.num_devices:
        for name, kind in kinds.items():
            yield on_devices(name, count), kind, count


def _costs(name: str, sizes: list[int], steps: list[Step]) -> Iterator[Curve]:
    """MB moved, and MB held by the device that holds most."""
    yield line(MOVED_MB, name, sizes, [sum(step.moved.values()) / 1e6 for step in steps])
    for demo, part in ((HELD_MB, "total"), (PARAMS_MB, "params"), (ACTIVATIONS_MB, "activations")):
        held = [max(getattr(memory, part) for memory in step.memory) / 1e6 for step in steps]
        yield line(demo, name, sizes, held)


def _idle_by_flop(params: ParallelismParams, net: nn.Module) -> Iterator[Curve]:
    """The idle time of pipelines whose parts take as long as their FLOP say."""
    for count in params.num_devices:
        for name, num_micro_batches in (
            (PIPELINE, 1),
            (in_micro_batches(params.num_micro_batches), params.num_micro_batches),
        ):
            idle = 100 * idle_share(schedule(flop_of_parts(net, count), num_micro_batches))
            series = on_devices(name, count)
            yield line(IDLE_BY_FLOP_PERCENT, series, params.batch_sizes[:1], [idle])
