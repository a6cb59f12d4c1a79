"""Run the stage: `python -m stages.bench_input`."""

import sys
from collections.abc import Sequence

import torch

from lab.core.exit_codes import run
from lab.core.files import REPORTS, write_metrics, write_rows
from lab.core.params import load
from lab.data.datasets import dataset_name, read_fashion_mnist
from lab.data.images import LabelledImages, to_float, to_tensors
from lab.machine.devices import Devices, resolve
from lab.results.measurements import Measurement, Results, rows_of
from lab.timing import bench
from stages.bench_input import names
from stages.bench_input.feeds import measure_feeds
from stages.bench_input.params import Params
from stages.bench_input.step_parts import measure_steps


def measure(params: Params, resident: LabelledImages, devices: Devices) -> list[Measurement]:
    """Time the feeds, then the parts of training steps."""
    measured = [
        *measure_feeds(params, resident, devices),
        *measure_steps(params, resident, devices),
    ]
    images, _ = resident
    rows = torch.arange(params.bench_input.batch_size, device=images.device)
    control = bench.noise_control(
        lambda: to_float(images.index_select(0, rows)), devices, params.bench
    )
    return measured + control


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
    params, watch = load(Params), bench.Watch()
    devices = resolve(1 if torch.cuda.device_count() == 1 else 2, params.devices)
    images, labels = to_tensors(read_fashion_mnist("train"))
    resident = (images.to(devices.devices[0]), labels.to(devices.devices[0]))
    measured = measure(params, resident, devices)
    write_rows(REPORTS / "bench_input", rows_of(measured))
    conditions = {"dataset": dataset_name(), **bench.conditions(measured, devices, watch)}
    write_metrics(REPORTS / "bench_input", conditions | summarise(measured))


if __name__ == "__main__":
    sys.exit(run(main))
