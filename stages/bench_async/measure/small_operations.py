"""Many small operations in a series, and what makes Python wait for one."""

import io
from collections.abc import Callable
from functools import partial

import torch
from torch import Tensor

from lab.machine.devices import Devices
from lab.results.measurements import Measurement
from lab.timing.bench import Variant, VariantOfSize, in_unit, time_variants
from lab.timing.clock import synchronize
from stages.bench_async.measure import names
from stages.bench_async.measure.call_times import call_times
from stages.bench_async.measure.params import Params

SIZE = 64  # rows of the matrix that they work on; of a series more, if that is launch-bound


def small_matrix(seed: int, device: torch.device, rows: int = SIZE) -> Tensor:
    """Random numbers (rows, rows)."""
    return torch.rand(rows, rows, generator=torch.Generator().manual_seed(seed)).to(device)


def additions(device: torch.device, seed: int) -> VariantOfSize:
    """The operation of the series, on a matrix of so many rows."""

    def addition(rows: int) -> Variant:
        return partial(small_matrix(seed, device, rows).add_, 1.0)

    return addition


def measure_run_ahead(params: Params, devices: Devices, start: int, rows: int) -> list[Measurement]:
    """Time series of operations, waited for once and each time, and until the last call returns."""
    x = small_matrix(params.seed, devices.devices[0], rows)

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
        variants = {names.WAITING_ONCE: once, names.WAITING_EACH: partial(series_waiting, count)}
        times = time_variants(
            variants, devices.devices, params.bench, start, control=names.WAITING_ONCE
        )
        returns, finishes = call_times(once, devices, params.bench.rounds)
        times |= {names.CALLS_RETURN: returns, names.SERIES_DONE: finishes}
        measured += in_unit(names.RUN_AHEAD, count, times, "us", devices)
    return measured


def measure_blockers(params: Params, devices: Devices, start: int) -> list[Measurement]:
    """Time an operation followed by each thing that makes Python wait for its result."""
    x = small_matrix(params.seed, devices.devices[0])
    nowhere = io.StringIO()

    def then(blocker: Callable[[], object]) -> Variant:
        def variant() -> None:
            x.add_(1.0)
            blocker()

        return variant

    variants = {
        names.NOTHING: then(lambda: None),
        names.SYNCHRONISE: then(lambda: synchronize(devices.devices)),
        names.ITEM: then(lambda: x[0, 0].item()),
        names.CPU: then(lambda: x.cpu()),
        names.NONZERO: then(lambda: x.nonzero()),
        names.PRINT: then(lambda: print(x[0, :4], file=nowhere)),
    }
    times = time_variants(variants, devices.devices, params.bench, start)
    return in_unit(names.BLOCKER, 0, times, "us", devices)
