"""Run the stage: `python -m stages.bench_input`."""

import sys

import torch

from lab.core.params import load
from lab.core.process import run
from lab.data.datasets import dataset_name, read_fashion_mnist
from lab.data.images import to_tensors
from lab.data.loaders import WORKER_START
from lab.machine.devices import Devices, resolve
from lab.results.measurements import Measurement
from lab.timing.runner import Benchmark
from stages.bench_input import findings
from stages.bench_input.measure.feeds import measure_feeds
from stages.bench_input.measure.params import Params
from stages.bench_input.measure.python_overhead import measure_python
from stages.bench_input.measure.step_parts import measure_steps


def training_devices(params: Params) -> Devices:
    """Return the devices of a step: two, unless there is one GPU."""
    return resolve(1 if torch.cuda.device_count() == 1 else 2, params.devices)


def measure(process: int, params: Params) -> list[Measurement]:
    devices = training_devices(params)
    images, labels = to_tensors(read_fashion_mnist("train"))
    resident = (images.to(devices.devices[0]), labels.to(devices.devices[0]))
    return [
        *measure_feeds(params, resident, devices, process),
        *measure_steps(params, resident, devices, process),
        *measure_python(params, resident, devices, process),
    ]


def main() -> None:
    params = load(Params)
    benchmark = Benchmark("bench_input", training_devices(params))
    measured = benchmark.repeat(params.bench.starts, measure, params)
    benchmark.write(measured, findings, dataset=dataset_name(), worker_start=WORKER_START)


if __name__ == "__main__":
    sys.exit(run(main))
