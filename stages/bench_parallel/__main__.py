"""Run the stage: `python -m stages.bench_parallel`."""

import sys
from collections.abc import Sequence

from lab.core.files import REPORTS, write_metrics, write_rows
from lab.core.params import load
from lab.core.process import run
from lab.machine.devices import Devices, resolve
from lab.machine.fresh_process import call_in_subprocess
from lab.machine.hardware import write_conditions
from lab.results.measurements import Measurement, Results, rows_of
from lab.timing.bench import launch_bound, ratio_metrics, speedup_of
from lab.timing.conditions import LoadMonitor, conditions
from lab.timing.runner import measure_in_starts
from stages.bench_parallel.measure import names, one_start
from stages.bench_parallel.measure.params import Params
from stages.bench_parallel.measure.products import products_of_a_run


def measure_once(devices: Devices) -> list[Measurement]:
    """What does not vary: how many products a run of the notes makes."""
    count = products_of_a_run()
    return [
        Measurement(names.NOTES_RUN, names.PRODUCTS_OF_A_RUN, 0, (count,), "products", devices.kind)
    ]


def summarise(measurements: Sequence[Measurement]) -> dict[str, float | str]:
    """The speed-ups of together, with their bound, at the largest size; at the smallest, one."""
    results = Results(measurements)
    first, second, in_turn, both = (
        results.series(names.PRODUCTS, variant)
        for variant in (names.FIRST, names.SECOND, names.ONE_AFTER_THE_OTHER, names.TOGETHER)
    )
    alone = [m.summary.median for m in (first[-1], second[-1])]
    return {
        **ratio_metrics(names.SPEEDUP, speedup_of(in_turn[-1], both[-1])),
        names.SPEEDUP_BOUND: round(sum(alone) / max(alone), 4),
        **ratio_metrics(names.SMALL_SPEEDUP, speedup_of(in_turn[0], both[0])),
        **launch_bound(measurements),
    }


def main() -> None:
    """Measure and write rows and metrics."""
    params = load(Params)
    watch, devices = LoadMonitor(), resolve(2, params.devices)
    starts = params.bench.starts
    sized = call_in_subprocess("looking for sizes", one_start.lasting, params)
    found = measure_in_starts(one_start, starts, sized)
    measured = [*found, *measure_once(devices)]
    write_rows(REPORTS / "bench_parallel", rows_of(measured))
    write_conditions(REPORTS / "bench_parallel")
    write_metrics(
        REPORTS / "bench_parallel",
        conditions(measured, devices, watch, starts, jobs_at_once=2) | summarise(measured),
    )


if __name__ == "__main__":
    sys.exit(run(main))
