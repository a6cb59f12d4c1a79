"""Run the stage: `python -m stages.bench_input`."""

import sys
from collections.abc import Sequence

from lab.core.files import REPORTS, write_metrics, write_rows
from lab.core.params import load
from lab.core.process import run
from lab.data.datasets import dataset_name
from lab.machine.hardware import write_conditions
from lab.results.measurements import Measurement, Results, rows_of
from lab.timing import bench
from lab.timing.conditions import LoadMonitor, conditions
from lab.timing.runner import measure_in_starts
from stages.bench_input.measure import names, one_start
from stages.bench_input.measure.params import Params


def summarise(measurements: Sequence[Measurement]) -> dict[str, float | str]:
    """How much faster an epoch of resident images is than the book's, and what both take."""
    results = Results(measurements)
    metrics: dict[str, float | str] = {}
    book = results.one(names.EPOCH, names.BOOK)
    resident = results.one(names.EPOCH, names.RESIDENT)
    if book and resident:
        metrics |= bench.ratio_metrics(names.RESIDENT_OVER_BOOK, bench.speedup_of(book, resident))
    for name, m in (
        (names.BOOK_EPOCH_S, book),
        (names.RESIDENT_EPOCH_S, resident),
        (names.BOOK_FIRST_BATCH_MS, results.one(names.FIRST_BATCH, names.BOOK)),
    ):
        if m:
            metrics |= bench.median_metrics(name, m.values)
    return metrics


def main() -> None:
    """Measure and write rows and metrics."""
    params, watch = load(Params), LoadMonitor()
    devices = one_start.training_devices(params)
    measured = measure_in_starts(one_start, params.bench.starts)
    write_rows(REPORTS / "bench_input", rows_of(measured))
    found = conditions(measured, devices, watch, params.bench.starts)
    write_conditions(REPORTS / "bench_input")
    write_metrics(
        REPORTS / "bench_input", {"dataset": dataset_name(), **found, **summarise(measured)}
    )


if __name__ == "__main__":
    sys.exit(run(main))
