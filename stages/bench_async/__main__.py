"""Run the stage: `python -m stages.bench_async`."""

import sys
from collections.abc import Sequence

from lab.core.files import REPORTS, write_metrics, write_rows
from lab.core.params import load
from lab.core.process import run
from lab.machine.devices import resolve
from lab.machine.fresh_process import call_in_subprocess
from lab.machine.hardware import write_conditions
from lab.results.measurements import Measurement, Results, rows_of
from lab.timing.bench import launch_bound, ratio_metrics, speedup_of
from lab.timing.conditions import LoadMonitor, conditions
from lab.timing.runner import measure_in_starts
from stages.bench_async.measure import names, one_start
from stages.bench_async.measure.params import Params


def summarise(measurements: Sequence[Measurement]) -> dict[str, float | str]:
    """How soon calls return, how fast torch is as the notes time it, and warm-up."""
    results = Results(measurements)
    returns, finishes, claimed, book_numpy = (
        results.series(experiment, variant)[-1]
        for experiment, variant in (
            (names.PRODUCT, names.CALL_RETURNS),
            (names.PRODUCT, names.RESULT_THERE),
            (names.BOOK, names.NOT_WAITED_FOR),
            (names.BOOK, names.BOOK_NUMPY),
        )
    )
    [first] = results.series(names.FIRST_PRODUCT, names.NO_WARM_UP)
    [steady] = [m for m in results.series(names.PRODUCT, names.RESULT_THERE) if m.x == first.x]
    return {
        **ratio_metrics(names.RETURN_OVER_FINISH, speedup_of(returns, finishes)),
        **ratio_metrics(names.BOOK_CLAIMS, speedup_of(book_numpy, claimed)),
        names.NO_WARM_UP_OVER_STEADY: round(speedup_of(first, steady).median, 3),
        **launch_bound(measurements),
    }


def main() -> None:
    """Measure all experiments in each start and write rows and metrics."""
    params = load(Params)
    watch, devices = LoadMonitor(), resolve(1, params.devices)
    params, rows = call_in_subprocess("looking for sizes", one_start.lasting, params)
    measured = measure_in_starts(one_start, params.bench.starts, params, rows)
    write_rows(REPORTS / "bench_async", rows_of(measured))
    met = conditions(measured, devices, watch, params.bench.starts)
    write_conditions(REPORTS / "bench_async")
    write_metrics(REPORTS / "bench_async", met | summarise(measured))


if __name__ == "__main__":
    sys.exit(run(main))
