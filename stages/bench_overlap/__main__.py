"""Run the stage: `python -m stages.bench_overlap`."""

import sys
from collections.abc import Sequence

from lab.core.exit_codes import run
from lab.core.files import REPORTS, write_metrics, write_rows
from lab.core.params import load
from lab.machine.devices import Devices, resolve
from lab.parallel.device_workers import thread_pool
from lab.results.measurements import Measurement, Results, rows_of, skip
from lab.results.stats import median_ratio, speedup
from lab.timing.bench import Watch, conditions, in_unit, noise_control, ratio_metrics, time_arms
from stages.bench_overlap import names
from stages.bench_overlap.arms import balanced_work, cpu_arms, gpu_arms
from stages.bench_overlap.fractions import overlap_fractions
from stages.bench_overlap.params import Params
from stages.bench_overlap.timeline import timeline


def measure(params: Params, devices: Devices) -> list[Measurement]:
    """Times of all arms with their overlap fractions, bandwidths, timelines, the noise control."""
    device, kind = devices.devices[0], devices.kind
    on_gpu = device.type == "cuda"
    work = balanced_work(params, device)
    with thread_pool(2, devices.threads) as pool:
        arms = gpu_arms(work) if on_gpu else cpu_arms(work, pool)
        seconds = time_arms(arms, devices.devices, params.bench)
        drawn = (names.ONE_STREAM, names.TWO_STREAMS) if on_gpu else (names.BESIDE,)
        spans = [
            Measurement(
                f"{names.TIMELINE}{arm}",
                f"{i} {span.kind}",
                round(span.start, 4),
                (span.duration,),
                "ms",
                kind,
            )
            for arm in drawn
            for i, span in enumerate(timeline(arms[arm], device))
        ]
    times = in_unit(names.TIMES, work.count, seconds, "ms", devices)
    rates = {
        arm: tuple(work.num_bytes / t / 1e9 for t in seconds[arm])
        for arm in names.ALONE
        if arm in seconds and arm != names.COMPUTE
    }
    return [
        *times,
        *[Measurement(names.BANDWIDTH, a, work.count, r, "GB/s", kind) for a, r in rates.items()],
        *overlap_fractions(times),
        *spans,
        *[
            skip(names.TIMES, arm, "needs a CUDA GPU", kind)
            for arm in names.ONLY_CUDA
            if arm not in seconds
        ],
        *noise_control(lambda: work.compute(0), devices, params.bench),
    ]


def summarise(measurements: Sequence[Measurement]) -> dict[str, float | str]:
    """The overlap fraction of this kind of machine's best arm, and what it gains."""
    results = Results(measurements)
    best = names.TWO_STREAMS if names.TWO_STREAMS in results.arms(names.TIMES) else names.BESIDE
    [fraction], [total], *parts = (
        results.series(demo, arm)
        for demo, arm in (
            (names.OVERLAP, best),
            (names.TIMES, best),
            *((names.TIMES, part) for part in names.PARTS[best]),
        )
    )
    without_overlap = [sum(t) for t in zip(*(m.values for [m] in parts), strict=True)]
    return {
        names.BEST_ARM: best,
        **ratio_metrics(names.OVERLAP_FRACTION, median_ratio(fraction.values)),
        **ratio_metrics(names.SPEEDUP, speedup(without_overlap, total.values)),
    }


def main() -> None:
    """Measure and write rows and metrics."""
    params = load(Params)
    watch, devices = Watch(), resolve(1, params.devices)
    measured = measure(params, devices)
    write_rows(REPORTS / "bench_overlap", rows_of(measured))
    write_metrics(
        REPORTS / "bench_overlap", conditions(measured, devices, watch) | summarise(measured)
    )


if __name__ == "__main__":
    sys.exit(run(main))
