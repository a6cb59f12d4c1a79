"""The times until a call returns and until its result is ready: of products and small operations.

A GPU queues work, so that Python runs ahead of it. On a CPU, torch computes within the call, and
the two times must agree.
"""

import io
import time
from collections.abc import Callable
from functools import partial

import torch
from torch import Tensor

from lab.machine.devices import Devices
from lab.results.measurements import Measurement
from lab.timing.bench import Variant, VariantOfSize, in_unit, time_variants
from lab.timing.clock import synchronize
from stages.bench_async.measure.params import Params

SIZE = 64  # rows of the matrix of small operations; more for a launch-bound series

Samples = tuple[float, ...]


def call_times(
    call: Callable[[], object], devices: Devices, rounds: int
) -> tuple[Samples, Samples]:
    """Return the seconds until each call returns, and until its result is ready."""
    returns, finishes = [], []
    for _ in range(rounds):
        synchronize(devices.devices)
        start = time.perf_counter()
        call()
        returns.append(time.perf_counter() - start)
        synchronize(devices.devices)
        finishes.append(time.perf_counter() - start)
    return tuple(returns), tuple(finishes)


def measure_first_product(params: Params, devices: Devices) -> list[Measurement]:
    """Time the process's first product, which pays for threads, libraries and memory.

    Nothing may have been multiplied before.
    """
    size = min(params.bench_async.sizes)
    a = torch.ones(size, size).to(devices.devices[0])
    _, finishes = call_times(lambda: torch.mm(a, a), devices, rounds=1)
    return in_unit("first_product", size, {"no warm-up": finishes}, "us", devices)


def measure_products(params: Params, devices: Devices) -> list[Measurement]:
    """Time products until the call returns and until the result is ready."""
    generator = torch.Generator().manual_seed(params.seed)
    measured = []
    for n in params.bench_async.sizes:
        a = torch.randn(n, n, generator=generator).to(devices.devices[0])
        product = partial(torch.mm, a, a, out=torch.empty_like(a))
        product()  # warm-up
        returns, finishes = call_times(product, devices, params.bench.rounds)
        both = {"call returns": returns, "result there": finishes}
        measured += in_unit("product", n, both, "us", devices)
    return measured


def measure_run_ahead(
    params: Params, devices: Devices, process: int, rows: int
) -> list[Measurement]:
    """Time series of operations, synchronized once or each time, and until the calls return."""
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
        variants = {"waiting once": once, "waiting after each": partial(series_waiting, count)}
        times = time_variants(
            variants, devices.devices, params.bench, process, control="waiting once"
        )
        returns, finishes = call_times(once, devices, params.bench.rounds)
        times |= {"calls return": returns, "all done": finishes}
        measured += in_unit("run_ahead", count, times, "us", devices)
    return measured


def measure_blockers(params: Params, devices: Devices, process: int) -> list[Measurement]:
    """Time an operation followed by each call that makes Python wait for its result."""
    x = small_matrix(params.seed, devices.devices[0])
    nowhere = io.StringIO()

    def then(blocker: Callable[[], object]) -> Variant:
        def variant() -> None:
            x.add_(1.0)
            blocker()

        return variant

    variants = {
        "nothing": then(lambda: None),
        "synchronise": then(lambda: synchronize(devices.devices)),
        ".item()": then(lambda: x[0, 0].item()),
        ".cpu()": then(lambda: x.cpu()),
        "nonzero": then(lambda: x.nonzero()),
        "print": then(lambda: print(x[0, :4], file=nowhere)),
    }
    times = time_variants(variants, devices.devices, params.bench, process)
    return in_unit("blocker", 0, times, "us", devices)


def additions(device: torch.device, seed: int) -> VariantOfSize:
    """Return the operation of the series, by the number of the matrix's rows."""

    def addition(rows: int) -> Variant:
        return partial(small_matrix(seed, device, rows).add_, 1.0)

    return addition


def small_matrix(seed: int, device: torch.device, rows: int = SIZE) -> Tensor:
    """Return random numbers (rows, rows)."""
    return torch.rand(rows, rows, generator=torch.Generator().manual_seed(seed)).to(device)
