"""The wide net's step by torch's libraries among real ranks: what it sends, holds and takes."""

from collections.abc import Callable, Iterator
from concurrent.futures import Executor
from functools import partial
from itertools import pairwise

import numpy as np
import torch
import torch.distributed as dist
from torch import Tensor

from lab.machine.devices import Devices, for_ranks
from lab.parallel.local_ranks import all_reduce_max, run_on_ranks, time_in_turns
from lab.parallel.workers import thread_pool
from lab.results.curves import Curve, line
from lab.results.measurements import Measurement, again
from lab.timing.bench import in_unit
from lab.timing.deadline import until_deadline
from lab.timing.runner import merge
from stages.parallelism.measure.by_torch import (
    FullySharded,
    InColumnsAndRows,
    InMicroBatches,
    OfTorch,
)
from stages.parallelism.measure.calls import Calls
from stages.parallelism.measure.data_parallel import DataParallel
from stages.parallelism.measure.kinds import timed_kinds
from stages.parallelism.measure.layers import IMAGE_PIXELS, NUM_CLASSES, Layered, wide_layers
from stages.parallelism.measure.names import (
    DATA,
    DIFFERENCE_EPS,
    FULLY_SHARD,
    PARALLELIZE,
    PIPELINING,
    TORCH_STEP_MS,
    WIDE_CALLS,
    WIDE_MODEL_MB,
    WIDE_MOVED_MB,
    WIDE_STATE_MB,
    on_devices,
)
from stages.parallelism.measure.params import ParallelismParams, Params
from stages.parallelism.measure.pipeline import cut
from stages.parallelism.measure.step import counted_step, train

NUM_DEVICES, LR = 2, 1e-3  # of the steps that are timed
Variants = dict[str, Callable[[], object]]


def measure_by_torch(params: ParallelismParams, devices: Devices, seed: int) -> Iterator[Curve]:
    """MB that all ranks send, by hand, by torch and by the model, calls, and MB of state."""
    counts = [n for n in params.num_devices if n <= len(devices.devices)]
    found = [run_on_ranks(n, devices, _count, params, seed) for n in counts]
    yield from (curve for curves in found for curve in curves if curve.experiment != WIDE_STATE_MB)
    for name in _libraries(params.num_micro_batches):
        held = [c.y[0] for curves in found for c in curves if _is_state(c, name)]
        yield line(WIDE_STATE_MB, name, counts, held)
    for n in counts:
        yield from _by_hand(params, devices, n, seed)
        yield from _by_model(params, n)


def time_by_torch(params: Params) -> list[Measurement]:
    """Milliseconds of a step on two devices by hand, in two threads, and by torch, in two ranks."""
    devices = for_ranks([NUM_DEVICES], params.devices)
    starts = until_deadline(params.bench.starts)
    return merge([run_on_ranks(NUM_DEVICES, devices, _time, devices, params, i) for i in starts])


def _libraries(num_micro_batches: int) -> dict[str, OfTorch]:
    return {
        FULLY_SHARD: FullySharded,
        PARALLELIZE: InColumnsAndRows,
        PIPELINING: partial(InMicroBatches, num_micro_batches=num_micro_batches),
    }


def _net(params: ParallelismParams, seed: int) -> tuple[Layered, Tensor, Tensor]:
    """The wide net, and random images and labels for it."""
    generator = torch.Generator().manual_seed(seed)
    net = wide_layers(params.wide_units, generator)
    X = torch.rand(params.batch_sizes[-1], 1, 28, 28, generator=generator)
    return net, X, torch.randint(10, (len(X),), generator=generator)


def _count(device: torch.device, params: ParallelismParams, seed: int) -> list[Curve]:
    """What a step by each library sends and holds, and how far it is from one device's gradient."""
    n, sizes = dist.get_world_size(), params.batch_sizes
    net, X, y = _net(params, seed)
    X, y, curves = X.to(device), y.to(device), []
    exact = net._replace(params=[(W.double(), b.double()) for W, b in net.params])
    few = X[: sizes[0]].double(), y[: sizes[0]]
    reference = counted_step(DataParallel, exact, *few, [device]).gradients
    for name, library in _libraries(params.num_micro_batches).items():
        series, calls, moved = on_devices(name, n), [], []
        for size in sizes:
            placed = library(net, device)
            placed.step(X[:size], y[:size], LR)  # the first one may say more than the others
            with Calls(n) as counted:
                placed.take_gradient(X[:size], y[:size])
            received = torch.tensor(counted.received, dtype=torch.float64)
            dist.all_reduce(received)
            moved.append(received.item() / 1e6)
            calls += all_reduce_max([counted.count])
        state = all_reduce_max([placed.state_bytes() / 1e6])
        curves += [
            line(WIDE_MOVED_MB, series, sizes, moved),
            line(WIDE_CALLS, series, sizes, calls),
            line(WIDE_STATE_MB, name, [n], state),
        ]
        placed = library(exact, device)
        placed.take_gradient(*few)
        apart = max(
            float((g - r).abs().max() / r.abs().max())
            for g, r in zip(placed.gradients(), reference, strict=True)
        )
        curves.append(line(DIFFERENCE_EPS, series, sizes[:1], [apart / np.finfo(float).eps]))
    return curves


def _is_state(curve: Curve, name: str) -> bool:
    return (curve.experiment, curve.series) == (WIDE_STATE_MB, name)


def _by_hand(params: ParallelismParams, devices: Devices, n: int, seed: int) -> Iterator[Curve]:
    net, X, y = _net(params, seed)
    for name, kind in timed_kinds(params.num_micro_batches).items():
        steps = [
            counted_step(kind, net, X[:size], y[:size], devices.devices[:n])
            for size in params.batch_sizes
        ]
        moved = [sum(step.moved.values()) / 1e6 for step in steps]
        yield line(WIDE_MOVED_MB, on_devices(name, n), params.batch_sizes, moved)


def _by_model(params: ParallelismParams, n: int) -> Iterator[Curve]:
    """What the libraries have to send: formulas of the papers that `by_torch` names."""
    for name, (of_any, per_image) in numbers_sent(n, params.wide_units).items():
        mb = [4e-6 * (of_any + size * per_image) for size in params.batch_sizes]
        yield line(WIDE_MODEL_MB, on_devices(name, n), params.batch_sizes, mb)


def numbers_sent(n: int, units: int) -> dict[str, tuple[int, int]]:
    """The numbers that n ranks send in a step of the wide net: for any batch, and for each image.

    Each layer's parameters are gathered before it computes, forward and back, and its gradients are
    scattered. Sums over pairs of layers cross as all-reduces: the outputs of the second and fourth
    layer forward, the gradient of the third one's inputs back. A pipeline's parts hand on their
    outputs, and get back the gradients.
    """
    widths = (IMAGE_PIXELS, units, units, units, NUM_CLASSES)
    parameters = sum(a * b + b for a, b in pairwise(widths))
    summed = widths[2] + widths[4] + widths[2]
    handed_on = sum(widths[part[-1] + 1] for part in cut(len(widths) - 1, n)[:-1])
    return {
        FULLY_SHARD: (3 * (n - 1) * parameters, 0),
        PARALLELIZE: (0, 2 * (n - 1) * summed),
        PIPELINING: (0, 2 * handed_on),
    }


def _time(device: torch.device, devices: Devices, params: Params, start: int) -> list[Measurement]:
    """One start's times, round by round; while the first rank works by hand, the others wait."""
    p = params.parallelism
    net, X, y = _net(p, params.seed + start)
    X, y = X.to(device), y.to(device)
    libraries = _libraries(p.num_micro_batches)
    with thread_pool(NUM_DEVICES, devices.threads) as pool:
        variants: Variants = {
            name: partial(library(net, device).step, X, y, LR)
            for name, library in libraries.items()
        } | _steps_by_hand(p, net, X, y, devices, pool)
        times = time_in_turns(variants, params.bench, start, device)
    return in_unit(TORCH_STEP_MS, len(X), times, "ms", devices)


def _steps_by_hand(
    params: ParallelismParams, net: Layered, X: Tensor, y: Tensor, devices: Devices, pool: Executor
) -> Variants:
    """Each kind's step on the first two devices, in the first rank; one takes part twice."""
    kinds = timed_kinds(params.num_micro_batches)
    names = [*kinds, again(DATA)]
    if dist.get_rank():
        return dict.fromkeys(names, lambda: None)
    on_two = devices.devices[:NUM_DEVICES]
    variants: Variants = {
        name: partial(train, kind(net, on_two, pool), X, y, LR, pool)
        for name, kind in kinds.items()
    }
    return variants | {again(DATA): variants[DATA]}
