"""What each kind of parallelism moves, holds and leaves idle in a step."""

import copy
from collections.abc import Iterator

import numpy as np
import torch

from lab.data.datasets import Split
from lab.data.images import to_tensors
from lab.machine.devices import Devices
from lab.nets.models import LeNet, to_float
from lab.results.curves import Curve, line
from stages.parallelism.measure.data_parallel import DataParallel
from stages.parallelism.measure.layers import Layered, lenet_layers, wide_layers
from stages.parallelism.measure.names import (
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
    WIDE_STATE_MB,
    in_micro_batches,
    on_devices,
)
from stages.parallelism.measure.params import ParallelismParams
from stages.parallelism.measure.pipeline import Pipeline, flop_of_parts, in_parts
from stages.parallelism.measure.pipeline_schedule import idle_share, schedule
from stages.parallelism.measure.step import Kind, Step, counted_step, difference
from stages.parallelism.measure.tensor_parallel import TensorParallel


def measure_kinds(
    params: ParallelismParams, devices: Devices, images: Split, seed: int
) -> Iterator[Curve]:
    """Each kind's MB moved and held by batch size, idle time, and difference of the gradient."""
    net, sizes = LeNet(torch.Generator().manual_seed(seed)), params.batch_sizes
    bytes_of_images, y = to_tensors(images)
    X = to_float(bytes_of_images)
    exact, few = copy.deepcopy(net).double(), (X[: sizes[0]].double(), y[: sizes[0]])
    reference = counted_step(DataParallel, exact, *few, devices.devices[:1])
    for name, kind, count in _variants(params):
        steps = [counted_step(kind, net, X[:n], y[:n], devices.devices[:count]) for n in sizes]
        yield from _costs(name, sizes, steps)
        apart = difference(counted_step(kind, exact, *few, devices.devices[:count]), reference)
        yield line(DIFFERENCE_EPS, name, sizes[:1], [apart / np.finfo(float).eps])
        yield line(IDLE_PERCENT, name, sizes, [100 * step.idle for step in steps])
    yield from _idle_by_flop(params, lenet_layers(net))


def measure_wide_net(params: ParallelismParams, devices: Devices, seed: int) -> Iterator[Curve]:
    """MB of the wide net's parameters and gradients on the fullest device, by devices."""
    generator = torch.Generator().manual_seed(seed)
    net = wide_layers(params.wide_units, generator)
    X, y = torch.rand(1, 1, 28, 28, generator=generator), torch.zeros(1, dtype=torch.long)
    counts = [1, *params.num_devices]
    for name, kind in _kinds(params).items():
        steps = [counted_step(kind, net, X, y, devices.devices[:count]) for count in counts]
        held = [max(memory.state for memory in step.memory) / 1e6 for step in steps]
        yield line(WIDE_STATE_MB, name, counts, held)


def _kinds(params: ParallelismParams) -> dict[str, Kind]:
    return {
        DATA: DataParallel,
        PIPELINE: Pipeline,
        in_micro_batches(params.num_micro_batches): in_parts(params.num_micro_batches),
        TENSOR: TensorParallel,
    }


def _variants(params: ParallelismParams) -> Iterator[tuple[str, Kind, int]]:
    """The series that are measured, each with its kind and its number of devices."""
    yield ONE, DataParallel, 1
    for count in params.num_devices:
        for name, kind in _kinds(params).items():
            yield on_devices(name, count), kind, count


def _costs(name: str, sizes: list[int], steps: list[Step]) -> Iterator[Curve]:
    """MB moved, and MB held by the device that holds most."""
    yield line(MOVED_MB, name, sizes, [sum(step.moved.values()) / 1e6 for step in steps])
    for experiment, part in ((HELD_MB, "total"), (PARAMS_MB, "params")):
        held = [max(getattr(memory, part) for memory in step.memory) / 1e6 for step in steps]
        yield line(experiment, name, sizes, held)


def _idle_by_flop(params: ParallelismParams, net: Layered) -> Iterator[Curve]:
    """The idle time of pipelines whose parts take as long as their FLOP say."""
    for count in params.num_devices:
        for name, num_micro_batches in (
            (PIPELINE, 1),
            (in_micro_batches(params.num_micro_batches), params.num_micro_batches),
        ):
            idle = 100 * idle_share(schedule(flop_of_parts(net, count), num_micro_batches))
            series = on_devices(name, count)
            yield line(IDLE_BY_FLOP_PERCENT, series, params.batch_sizes[:1], [idle])
