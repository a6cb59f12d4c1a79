"""Run the stage: `python -m stages.bench_overlap`."""

import sys
from collections.abc import Sequence

from lab.core.files import REPORTS, write_metrics, write_rows
from lab.core.params import load
from lab.core.process import run
from lab.machine.devices import resolve
from lab.machine.fresh_process import call_in_subprocess
from lab.machine.hardware import write_conditions
from lab.results.measurements import Measurement, Results, rows_of
from lab.results.stats import median_ratio
from lab.timing.bench import launch_bound, ratio_metrics, speedup_of
from lab.timing.conditions import LoadMonitor, conditions
from lab.timing.runner import measure_in_starts
from stages.bench_overlap.measure import names, one_start
from stages.bench_overlap.measure.fractions import overlap_fractions
from stages.bench_overlap.measure.params import Params
from stages.bench_overlap.measure.timeline import timelines


def summarise(measurements: Sequence[Measurement]) -> dict[str, float | str]:
    """The overlap fraction of the best variant here, and what it gains over in turn."""
    results = Results(measurements)
    best = names.TWO_STREAMS if names.TWO_STREAMS in results.variants(names.TIMES) else names.BESIDE
    [fraction], [total], [in_turn] = (
        results.series(experiment, variant)
        for experiment, variant in (
            (names.OVERLAP, best),
            (names.TIMES, best),
            (names.TIMES, names.SAME_IN_TURN[best]),
        )
    )
    return {
        names.BEST_VARIANT: best,
        **ratio_metrics(names.OVERLAP_FRACTION, median_ratio(fraction.values)),
        **ratio_metrics(names.SPEEDUP, speedup_of(in_turn, total)),
        **launch_bound(measurements),
    }


def main() -> None:
    """Measure and write rows and metrics."""
    params = load(Params)
    watch, devices = LoadMonitor(), resolve(1, params.devices)
    starts = params.bench.starts
    params, images = call_in_subprocess("looking for sizes", one_start.lasting, params)
    times = measure_in_starts(one_start, starts, params, images)
    measured = [*times, *overlap_fractions(times), *timelines(params, devices)]
    write_rows(REPORTS / "bench_overlap", rows_of(measured))
    write_conditions(REPORTS / "bench_overlap")
    write_metrics(
        REPORTS / "bench_overlap",
        conditions(measured, devices, watch, starts, jobs_at_once=2)
        | {names.WORKLOAD: params.bench_overlap.workload}
        | summarise(measured),
    )


if __name__ == "__main__":
    sys.exit(run(main))
