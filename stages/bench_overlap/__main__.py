"""Run the stage: `python -m stages.bench_overlap`."""

import sys
from collections.abc import Sequence

from lab.core.exit_codes import run
from lab.core.files import REPORTS, write_metrics, write_rows
from lab.core.params import load
from lab.machine.devices import Devices, resolve
from lab.parallel.device_workers import crew
from lab.results.curves import key
from lab.results.measurements import Measurement, Results, rows_of, skip
from lab.results.stats import median_ratio, speedup
from lab.results.stats import summarise as summary
from lab.timing import bench
from lab.timing.bench import in_unit, time_arms
from stages.bench_overlap import overlap
from stages.bench_overlap.params import Params

BYTES = 4  # of a float32
# how copies and products are balanced: tries, results, elements
PROBES, PROBE_RESULTS, PROBE_COUNT = 2, 4, 2**20


def measure(params: Params, devices: Devices) -> tuple[list[Measurement], overlap.Work]:
    """Time every way of this machine in turn, draw up its overlap fractions and timelines; return
    the work too.
    """
    device = devices.devices[0]
    work = _balanced_work(params, devices)
    with crew(2, devices.threads) as pool:
        arms = overlap.gpu_arms(work) if device.type == "cuda" else overlap.cpu_arms(work, pool)
        times = time_arms(arms, devices.devices, params.bench)
        drawn = (
            (overlap.ONE_STREAM, overlap.TWO_STREAMS)
            if device.type == "cuda"
            else (overlap.BESIDE,)
        )
        timelines = [
            Measurement(
                f"timeline, {name}",
                f"{i} {span.what}",
                round(span.start, 4),
                (span.duration,),
                "ms",
                devices.kind,
            )
            for name in drawn
            for i, span in enumerate(overlap.timeline(arms[name], device))
        ]
    size = BYTES * work.count * len(work.payloads)
    rates = [
        Measurement(
            "bandwidth",
            name,
            work.count,
            tuple(size / t / 1e9 for t in seconds),
            "GB/s",
            devices.kind,
        )
        for name, seconds in times.items()
        if name not in overlap.PARTS and name != overlap.COMPUTE
    ]
    total = in_unit("seconds", work.count, times, "ms", devices)
    missing = [
        skip("seconds", name, "needs a CUDA GPU", devices.kind)
        for name in overlap.ONLY_CUDA
        if name not in times
    ]
    return [*total, *rates, *fractions(total), *timelines, *missing], work


def _balanced_work(params: Params, devices: Devices) -> overlap.Work:
    """Return work that copies as much per result as takes as long as its product, found with a few
    results.
    """
    size, num_results = params.bench_overlap.size, params.bench_overlap.num_results
    device, count = devices.devices[0], PROBE_COUNT
    for _ in range(PROBES):
        work = overlap.make_work(size, PROBE_RESULTS, count, device, params.seed)
        arms = {
            "compute": lambda work=work: [work.compute(i) for i in work.results()],
            "copy": lambda work=work: [work.copy(i) for i in work.results()],
        }
        times = {
            name: summary(t).median for name, t in time_arms(arms, [device], params.bench).items()
        }
        count = overlap.balanced_count(times["compute"], times["copy"], count)
    return overlap.make_work(size, num_results, count, device, params.seed)


def fractions(seconds: Sequence[Measurement]) -> list[Measurement]:
    """Return the overlap fraction of each way, round by round, marked wrong where it cannot be
    overlap.
    """
    results, found = Results(seconds), []
    pairs = [(way, way, parts) for way, parts in overlap.PARTS.items()]
    for name, way, parts in (
        *pairs,
        (overlap.AS_THE_BOOK, overlap.BOOK, (overlap.COMPUTE, overlap.PAGEABLE_COPIES)),
    ):
        total, alone = results.one("seconds", way), [results.one("seconds", part) for part in parts]
        if total is None or None in alone:
            continue
        rounds = zip(*(m.values for m in alone if m), strict=True)
        values = tuple(
            overlap.overlap_fraction(p, t) for p, t in zip(rounds, total.values, strict=True)
        )
        interval = median_ratio(values)
        wrong = interval.low > 1 or interval.high < 0
        remark = "wrong: outside [0, 1], so this is no overlap" if wrong else ""
        found.append(
            Measurement(
                "overlap",
                name,
                total.x,
                values,
                "fraction",
                total.device_kind,
                total.threads,
                remark,
            )
        )
    return found


def summarise(measurements: Sequence[Measurement]) -> dict[str, float | str]:
    """Return the overlap fraction of the best way and of all, bandwidths, and times with their
    bounds.
    """
    results = Results(measurements)
    metrics: dict[str, float | str] = {}
    best = overlap.TWO_STREAMS if overlap.TWO_STREAMS in results.arms("overlap") else overlap.BESIDE
    metrics["best_way"] = best
    fraction, total = results.one("overlap", best), results.one("seconds", best)
    parts = [m for part in overlap.PARTS[best] if (m := results.one("seconds", part))]
    if fraction and total:
        metrics |= bench.ratio_metrics("overlap_fraction", median_ratio(fraction.values))
        metrics |= bench.median_metrics("total_ms", total.values)
        metrics["sum_ms"] = round(sum(m.summary.median for m in parts), 3)
        metrics["longer_ms"] = round(max(m.summary.median for m in parts), 3)
        together = [sum(t) for t in zip(*(m.values for m in parts), strict=True)]
        metrics |= bench.ratio_metrics("speedup", speedup(together, total.values))
    for name in results.arms("overlap"):
        each = results.one("overlap", name)
        if each:
            metrics[f"{key(name)}_fraction"] = round(each.summary.median, 4)
    metrics["wrong_fractions"] = sum(m.remark.startswith("wrong") for m in measurements)
    for name in results.arms("bandwidth"):
        rate = results.one("bandwidth", name)
        if rate:
            metrics |= bench.median_metrics(f"{key(name)}_gb_per_s", rate.values)
    return metrics


def main() -> None:
    """Measure and write rows and metrics."""
    params = load(Params)
    watch, devices = bench.Watch(), resolve(1, params.devices)
    measured, work = measure(params, devices)
    measured += bench.noise_control(lambda: work.compute(0), devices, params.bench)
    write_rows(REPORTS / "bench_overlap", rows_of(measured))
    write_metrics(
        REPORTS / "bench_overlap", bench.conditions(measured, devices, watch) | summarise(measured)
    )


if __name__ == "__main__":
    sys.exit(run(main))
