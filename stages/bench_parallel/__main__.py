"""Run the stage: `python -m stages.bench_parallel`."""

import sys
from collections.abc import Sequence
from functools import partial

import torch

from lab.core.exit_codes import run
from lab.core.files import REPORTS, write_metrics, write_rows
from lab.core.params import load
from lab.machine.devices import Devices, resolve
from lab.parallel.device_workers import Job, Lane, crew, lanes_on, together
from lab.results.measurements import Measurement, Results, rows_of, skip
from lab.timing import bench
from lab.timing.bench import Arm, in_unit, time_arms
from lab.timing.clock import synchronize
from stages.bench_parallel.params import Params

FIRST, SECOND, AFTER, TOGETHER = "first alone", "second alone", "one after the other", "together"
BOOK = "together, current GPU waited for"


def products(lane: Lane, size: int, count: int, generator: torch.Generator) -> Job:
    """Return the job of multiplying a random (size, size) matrix with itself `count` times, into
    one result.
    """
    x = torch.rand(size, size, generator=generator).to(lane.device)
    y = torch.empty_like(x)

    def job() -> None:
        for _ in range(count):
            torch.mm(x, x, out=y)

    return job


def measure(params: Params, devices: Devices) -> list[Measurement]:
    """Time both jobs alone, one after the other and together, at each size."""
    lanes = lanes_on(devices.devices)
    generator = torch.Generator().manual_seed(params.seed)
    measured = []
    with crew(len(lanes), devices.threads) as pool:
        for size in params.bench_parallel.sizes:
            jobs = [
                products(lane, size, params.bench_parallel.num_products, generator)
                for lane in lanes
            ]
            synchronize(devices.devices)  # the matrices are there before other streams read them

            def one_after_the_other(jobs: Sequence[Job] = jobs) -> None:
                for lane, job in zip(lanes, jobs, strict=True):
                    lane.run(job)
                    synchronize([lane.device])

            arms: dict[str, Arm] = {
                FIRST: partial(lanes[0].run, jobs[0]),
                SECOND: partial(lanes[1].run, jobs[1]),
                AFTER: one_after_the_other,
                TOGETHER: partial(together, jobs, lanes, pool),
            }
            measured += in_unit(
                "products", size, time_arms(arms, devices.devices, params.bench), "ms", devices
            )
    return measured + measure_careless_wait(params, devices)


def measure_careless_wait(params: Params, devices: Devices) -> list[Measurement]:
    """Time both jobs together as the notes do, whose `torch.cuda.synchronize()` waits for the
    current GPU only.
    """
    gpus = {device for device in devices.devices if device.type == "cuda"}
    if len(gpus) < 2:
        return [skip("products", BOOK, f"needs 2 CUDA GPUs, found {len(gpus)}", devices.kind)]
    lanes, size = lanes_on(devices.devices), max(params.bench_parallel.sizes)
    generator = torch.Generator().manual_seed(params.seed)
    shorter, count = (
        max(1, params.bench_parallel.num_products // 2),
        params.bench_parallel.num_products,
    )
    jobs = [
        products(lane, size, n, generator) for lane, n in zip(lanes, (shorter, count), strict=True)
    ]
    times: dict[str, tuple[float, ...]] = {}
    with crew(len(lanes), devices.threads) as pool:
        for name, waited_for in (
            (BOOK, devices.devices[:1]),
            ("together, both waited for", devices.devices),
        ):
            synchronize(devices.devices)
            times |= time_arms(
                {name: partial(together, jobs, lanes, pool)}, waited_for, params.bench
            )
    return in_unit("products, second job longer", size, times, "ms", devices)


def summarise(measurements: Sequence[Measurement], num_products: int) -> dict[str, float | str]:
    """Return the speed-up at the largest size with its interval and its bound, and the same at the
    smallest.
    """
    results = Results(measurements)
    metrics: dict[str, float | str] = {}
    sizes = [m.x for m in results.series("products", TOGETHER)]
    for size, prefix in ((sizes[0], "small_"), (sizes[-1], "")):
        first, second, after, both = (
            found
            for arm in (FIRST, SECOND, AFTER, TOGETHER)
            if (found := results.one("products", arm, size))
        )
        metrics |= bench.ratio_metrics(f"{prefix}speedup", bench.speedup_of(after, both))
        longer = max(first.summary.median, second.summary.median)
        metrics[f"{prefix}speedup_bound"] = round(
            (first.summary.median + second.summary.median) / longer, 4
        )
        metrics[f"{prefix}size"] = int(size)
        for name, m in (
            ("first", first),
            ("second", second),
            ("one_after_the_other", after),
            ("together", both),
        ):
            metrics |= bench.median_metrics(f"{prefix}{name}_ms", m.values)
        rate = 2 * num_products * size**3 / first.summary.median / 1e6
        metrics[f"{prefix}first_gflop_per_s"] = round(rate, 2)
    return metrics


def main() -> None:
    """Measure and write rows and metrics."""
    params = load(Params)
    watch, devices = bench.Watch(), resolve(2, params.devices)
    measured = measure(params, devices)
    lane = lanes_on(devices.devices)[0]
    job = products(
        lane, min(params.bench_parallel.sizes), 10, torch.Generator().manual_seed(params.seed)
    )
    measured += bench.noise_control(lambda: lane.run(job), devices, params.bench)
    write_rows(REPORTS / "bench_parallel", rows_of(measured))
    summary = summarise(measured, params.bench_parallel.num_products)
    write_metrics(REPORTS / "bench_parallel", bench.conditions(measured, devices, watch) | summary)


if __name__ == "__main__":
    sys.exit(run(main))
