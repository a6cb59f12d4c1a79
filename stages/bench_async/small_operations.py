"""Many small operations in a series, what makes Python wait for one, and a chain of three."""

import io
from collections.abc import Callable
from functools import partial

import torch
from torch import Tensor

from lab.machine.devices import Devices
from lab.results.measurements import Measurement
from lab.timing.bench import Arm, in_unit, time_arms
from lab.timing.clock import synchronize
from stages.bench_async import names
from stages.bench_async.call_times import call_times
from stages.bench_async.params import Params

SIZE = 64  # rows of the matrix that they work on


def small_matrix(seed: int, device: torch.device) -> Tensor:
    """Random numbers (SIZE, SIZE)."""
    return torch.rand(SIZE, SIZE, generator=torch.Generator().manual_seed(seed)).to(device)


def measure_run_ahead(params: Params, devices: Devices) -> list[Measurement]:
    """Time series of operations, waited for once and each time, and until the last call returns."""
    x = small_matrix(params.seed, devices.devices[0])

    def series(count: int) -> None:
        for _ in range(count):
            x.add_(1.0)

    def series_waiting(count: int) -> None:
        for _ in range(count):
            x.add_(1.0)
            synchronize(devices.devices)

    measured = []
    for count in params.bench_async.counts:
        once = partial(series, count)
        arms = {names.WAITING_ONCE: once, names.WAITING_EACH: partial(series_waiting, count)}
        times = time_arms(arms, devices.devices, params.bench)
        times[names.CALLS_RETURN], _ = call_times(once, devices, params.bench.rounds)
        measured += in_unit(names.RUN_AHEAD, count, times, "us", devices)
    return measured


def measure_blockers(params: Params, devices: Devices) -> list[Measurement]:
    """Time an operation followed by each thing that makes Python wait for its result."""
    x = small_matrix(params.seed, devices.devices[0])
    nowhere = io.StringIO()

    def then(blocker: Callable[[], object]) -> Arm:
        def arm() -> None:
            x.add_(1.0)
            blocker()

        return arm

    arms = {
        names.NOTHING: then(lambda: None),
        names.SYNCHRONISE: then(lambda: synchronize(devices.devices)),
        names.ITEM: then(lambda: x[0, 0].item()),
        names.CPU: then(lambda: x.cpu()),
        names.NONZERO: then(lambda: x.nonzero()),
        names.PRINT: then(lambda: print(x[0, :4], file=nowhere)),
    }
    return in_unit(names.BLOCKER, 0, time_arms(arms, devices.devices, params.bench), "us", devices)


def measure_dependencies(devices: Devices) -> list[Measurement]:
    """Compute the notes' z = x * y + 2 of ones (1, 2), whose operations have one order only."""
    x = y = torch.ones((1, 2), device=devices.devices[0])
    z = x * y + 2
    return [
        Measurement(names.DEPENDENCIES, names.Z, 0, tuple(z.flatten().tolist()), "", devices.kind)
    ]
