"""Run the stage: `python -m stages.parallelism`."""

import sys
from collections.abc import Iterator

import torch

from lab.core.params import load
from lab.core.process import run
from lab.data.datasets import Split, dataset_name, read_fashion_mnist
from lab.machine.devices import Devices, resolve
from lab.results.measurements import Measurement
from lab.timing.clock import synchronize
from lab.timing.runner import Benchmark
from stages.parallelism import findings
from stages.parallelism.measure import step_times
from stages.parallelism.measure.costs import (
    measure_allreduce,
    measure_dense,
    measure_lenet,
    measure_networks,
)
from stages.parallelism.measure.params import Params


def measure_once(params: Params) -> Iterator[Measurement]:
    """All that is counted."""
    p = params.parallelism
    images = read_fashion_mnist("train").first(p.batch_sizes[-1])
    yield from count(params, resolve(max(p.num_devices), params.devices), images)


def count(params: Params, devices: Devices, images: Split) -> Iterator[Measurement]:
    """What the kinds by hand and the all-reduces cost, and the networks' FLOP per byte."""
    torch.backends.cudnn.deterministic = True  # the same seed, the same bits
    p, seed = params.parallelism, params.seed
    yield from measure_lenet(p, devices, images, seed)
    yield from measure_dense(p, devices, seed)
    yield from measure_allreduce(p.num_devices, seed)
    yield from measure_networks()
    synchronize(devices.devices)  # nothing is at work while the machine's speed is looked at


def main() -> None:
    params = load(Params)
    benchmark = Benchmark("parallelism", resolve(step_times.NUM_DEVICES, params.devices))
    measured = benchmark.repeat(params.bench.starts, step_times.measure, params)
    measured += measure_once(params)
    benchmark.write(measured, findings, jobs_at_once=2, dataset=dataset_name())


if __name__ == "__main__":
    sys.exit(run(main))
