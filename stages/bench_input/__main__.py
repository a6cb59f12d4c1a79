"""Run the stage: `python -m stages.bench_input`."""

import sys

import torch

from lab.core.params import load
from lab.core.process import run
from lab.data.datasets import dataset_name, read_fashion_mnist
from lab.data.images import to_tensors
from lab.data.loaders import WORKER_START
from lab.machine.devices import Devices, resolve
from lab.results.measurements import Measurement, Results
from lab.timing.bench import median_metrics, ratio_metrics, speedup_of
from lab.timing.runner import run_benchmark
from stages.bench_input.measure.feeds import measure_feeds
from stages.bench_input.measure.names import BOOK, RESIDENT
from stages.bench_input.measure.params import Params
from stages.bench_input.measure.python_overhead import measure_python
from stages.bench_input.measure.step_parts import measure_steps


def training_devices(params: Params) -> Devices:
    """The devices of a step: two, unless there is one GPU."""
    return resolve(1 if torch.cuda.device_count() == 1 else 2, params.devices)


def measure(process: int, params: Params) -> list[Measurement]:
    """The feeds, then the parts of training steps, then the calls of one."""
    devices = training_devices(params)
    images, labels = to_tensors(read_fashion_mnist("train"))
    resident = (images.to(devices.devices[0]), labels.to(devices.devices[0]))
    return [
        *measure_feeds(params, resident, devices, process),
        *measure_steps(params, resident, devices, process),
        *measure_python(params, resident, devices, process),
    ]


def summarise(results: Results) -> dict[str, float | str]:
    """How much faster an epoch of resident images is than the book's, and what both take."""
    [book], [resident] = (results.series("epoch", variant) for variant in (BOOK, RESIDENT))
    [first_batch] = results.series("first_batch", BOOK)
    return {
        **ratio_metrics("resident_over_book", speedup_of(book, resident)),
        **median_metrics("the_books_loader_epoch_s", book.values),
        **median_metrics("resident_bytes_epoch_s", resident.values),
        **median_metrics("the_books_loader_first_batch_ms", first_batch.values),
    }


def main() -> None:
    params = load(Params)
    run_benchmark(
        "bench_input",
        training_devices(params),
        params.bench.starts,
        measure,
        summarise,
        compared=("resident_over_book", "the_books_loader_epoch_s"),
        prepare=lambda: (params,),
        about={"dataset": dataset_name(), "worker_start": WORKER_START},
    )


if __name__ == "__main__":
    sys.exit(run(main))
