"""Run the stage: `python -m stages.bench_async`."""

import io
import sys
import time
from collections.abc import Callable, Sequence
from functools import partial

import numpy as np
import torch
from threadpoolctl import ThreadpoolController

from lab.core.exit_codes import run
from lab.core.files import REPORTS, write_metrics, write_rows
from lab.core.params import load
from lab.machine.devices import Devices, resolve
from lab.results.curves import key
from lab.results.measurements import Measurement, Results, rows_of, skip
from lab.results.stats import fit_line
from lab.timing import bench
from lab.timing.bench import Arm, in_unit, time_arms
from lab.timing.clock import synchronize
from stages.bench_async.params import Params

SMALL = 64  # rows of the matrix that the small operations work on
BOOK_REPEATS = 10  # products of the notes' comparison with numpy
WRONG_DEVICE = "torch, another GPU waited for"


def measure_no_warm_up(size: int, devices: Devices) -> list[Measurement]:
    """Time this process's very first product, which pays for threads, libraries and memory; call
    this first.
    """
    a = torch.ones(size, size).to(devices.devices[0])
    synchronize(devices.devices)
    start = time.perf_counter()
    torch.mm(a, a)
    synchronize(devices.devices)
    seconds = time.perf_counter() - start
    return [
        Measurement(
            "first_product",
            "no warm-up",
            size,
            (1e6 * seconds,),
            "us",
            devices.kind,
            devices.threads,
        )
    ]


def measure_products(params: Params, devices: Devices) -> list[Measurement]:
    """Time a product until the call returns and until the result is there; and against numpy's on
    equal threads.
    """
    rng = np.random.default_rng(params.seed)
    blas = ThreadpoolController().select(user_api="blas")
    measured = []
    for n in params.bench_async.sizes:
        A = rng.standard_normal((n, n), dtype=np.float32)
        a, C = torch.from_numpy(A).to(devices.devices[0]), np.empty_like(A)
        out = torch.empty_like(a)
        product = partial(torch.mm, a, a, out=out)
        with blas.limit(limits=devices.threads):
            times = time_arms(
                {"torch": product, "numpy": partial(np.dot, A, A, out=C)},
                devices.devices,
                params.bench,
            )
        measured += in_unit("numpy_torch", n, times, "us", devices)
        measured += in_unit(
            "product", n, _return_and_finish(product, devices, params.bench.rounds), "us", devices
        )
    return measured


def _return_and_finish(arm: Arm, devices: Devices, rounds: int) -> dict[str, tuple[float, ...]]:
    """Return the seconds until a call returns and until its result is there, of the same calls."""
    pairs = []
    for _ in range(rounds):
        synchronize(devices.devices)
        start = time.perf_counter()
        arm()
        returned = time.perf_counter()
        synchronize(devices.devices)
        pairs.append((returned - start, time.perf_counter() - start))
    returns, finishes = zip(*pairs, strict=True)
    return {"call returns": returns, "result there": finishes}


def measure_run_ahead(params: Params, devices: Devices) -> list[Measurement]:
    """Time series of small operations: until the last call returns, until all is done, waiting
    after each one.
    """
    x = torch.rand(SMALL, SMALL, generator=torch.Generator().manual_seed(params.seed)).to(
        devices.devices[0]
    )
    measured = []
    for count in params.bench_async.counts:

        def series(count: int = count) -> None:
            for _ in range(count):
                x.add_(1.0)

        def series_waiting(count: int = count) -> None:
            for _ in range(count):
                x.add_(1.0)
                synchronize(devices.devices)

        times = time_arms(
            {"waiting once": series, "waiting after each": series_waiting},
            devices.devices,
            params.bench,
        )
        times["calls return"] = _return_and_finish(series, devices, params.bench.rounds)[
            "call returns"
        ]
        measured += in_unit("run_ahead", count, times, "us", devices)
    return measured


def measure_blockers(params: Params, devices: Devices) -> list[Measurement]:
    """Time a small operation followed by each thing that makes Python wait for its result."""
    x = torch.rand(SMALL, SMALL, generator=torch.Generator().manual_seed(params.seed)).to(
        devices.devices[0]
    )
    nowhere = io.StringIO()
    blockers: dict[str, Callable[[], object]] = {
        "nothing": lambda: None,
        "synchronise": lambda: synchronize(devices.devices),
        ".item()": lambda: x[0, 0].item(),
        ".cpu()": lambda: x.cpu(),
        "nonzero": lambda: x.nonzero(),
        "print": lambda: print(x[0, :4], file=nowhere),
    }

    def after_an_operation(blocker: Callable[[], object]) -> Arm:
        def arm() -> None:
            x.add_(1.0)
            blocker()

        return arm

    arms = {name: after_an_operation(blocker) for name, blocker in blockers.items()}
    return in_unit("blocker", 0, time_arms(arms, devices.devices, params.bench), "us", devices)


def measure_dependencies(devices: Devices) -> list[Measurement]:
    """Compute the notes' chain z = x * y + 2 of ones (1, 2), which has one order only, however it
    is queued.
    """
    x = y = torch.ones((1, 2), device=devices.devices[0])
    z = x * y + 2
    return [Measurement("dependencies", "z", 0, tuple(z.flatten().tolist()), "", devices.kind)]


def measure_careless_clocks(params: Params, devices: Devices) -> list[Measurement]:
    """Time products as the notes do, numpy's in float64, without and with waiting, and waiting for
    another GPU.
    """
    device, n = devices.devices[0], params.bench_async.book_size

    def numpy_way() -> None:
        for _ in range(BOOK_REPEATS):
            a = np.random.normal(size=(n, n))
            np.dot(a, a)

    def torch_way(wait_for: Sequence[torch.device]) -> None:
        for _ in range(BOOK_REPEATS):
            a = torch.randn(size=(n, n), device=device)
            torch.mm(a, a)
        synchronize(wait_for)

    arms: dict[str, Arm] = {
        "numpy, float64": numpy_way,
        "torch, not waited for": lambda: torch_way([]),
        "torch, waited for": lambda: torch_way([device]),
    }
    found, missing = torch.cuda.device_count(), []
    if found >= 2:
        arms[WRONG_DEVICE] = lambda: torch_way([torch.device("cuda", 1)])
    else:
        missing = [skip("book", WRONG_DEVICE, f"needs 2 CUDA GPUs, found {found}", devices.kind)]
    times: dict[str, tuple[float, ...]] = dict.fromkeys(arms, ())
    for name in bench.turns(arms, params.bench.rounds):
        times[name] += _return_and_finish(arms[name], devices, 1)["call returns"]
    return [*in_unit("book", n, times, "ms", devices), *missing]


def summarise(measurements: Sequence[Measurement]) -> dict[str, float | str]:
    """Return how soon calls return, what an operation costs waited for once or each time, and
    careless errors.
    """
    results = Results(measurements)
    metrics: dict[str, float | str] = {}
    returns, finishes = (
        results.series("product", what)[-1] for what in ("call returns", "result there")
    )
    metrics |= bench.ratio_metrics("return_over_finish", bench.speedup_of(returns, finishes))
    numpy, torch_ = (results.series("numpy_torch", name)[-1] for name in ("numpy", "torch"))
    metrics |= bench.ratio_metrics("torch_over_numpy", bench.speedup_of(numpy, torch_))
    for name in results.arms("run_ahead"):
        series = results.series("run_ahead", name)
        slope, intercept = fit_line([m.x for m in series], [m.summary.median for m in series])
        metrics[f"{key(name)}_us_per_operation"] = round(slope, 4)
        metrics[f"{key(name)}_us_start"] = round(intercept, 4)
    nothing = results.one("blocker", "nothing")
    for name in results.arms("blocker")[1:]:
        blocker = results.one("blocker", name)
        if blocker and nothing:
            metrics[f"{key(name)}_costs_us"] = round(
                blocker.summary.median - nothing.summary.median, 3
            )
    book = {name: m for name in results.arms("book") if (m := results.one("book", name))}
    for name, arm in (
        ("book_claims", "torch, not waited for"),
        ("book_waited_for", "torch, waited for"),
    ):
        metrics |= bench.ratio_metrics(name, bench.speedup_of(book["numpy, float64"], book[arm]))
    first = results.one("first_product", "no warm-up")
    steady = results.one("product", "result there", first.x if first else None)
    if first and steady:
        metrics["no_warm_up_over_steady"] = round(first.values[0] / steady.summary.median, 3)
    return metrics


def main() -> None:
    """Measure all demos and write rows and metrics."""
    params = load(Params)
    watch, devices = bench.Watch(), resolve(1, params.devices)
    x = torch.rand(SMALL, SMALL).to(devices.devices[0])
    measured = [
        *measure_no_warm_up(min(params.bench_async.sizes), devices),
        *measure_products(params, devices),
        *measure_run_ahead(params, devices),
        *measure_blockers(params, devices),
        *measure_dependencies(devices),
        *measure_careless_clocks(params, devices),
        *bench.noise_control(lambda: torch.mm(x, x), devices, params.bench),
    ]
    write_rows(REPORTS / "bench_async", rows_of(measured))
    write_metrics(
        REPORTS / "bench_async", bench.conditions(measured, devices, watch) | summarise(measured)
    )


if __name__ == "__main__":
    sys.exit(run(main))
