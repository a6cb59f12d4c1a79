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
    """Yield everything counted, not timed."""
    p = params.parallelism
    images = read_fashion_mnist("train").first(p.batch_sizes[-1])
    yield from count(params, resolve(max(p.num_devices), params.devices), images)


def count(params: Params, devices: Devices, images: Split) -> Iterator[Measurement]:
    """Yield the costs of the kinds and the all-reduces, and the networks' FLOP per byte."""
    torch.backends.cudnn.deterministic = True  # the same seed gives the same bits
    p, seed = params.parallelism, params.seed
    yield from measure_lenet(p, devices, images, seed)
    yield from measure_dense(p, devices, seed)
    yield from measure_allreduce(p.num_devices, seed)
    yield from measure_networks()
    synchronize(devices.devices)  # nothing may run while the machine's speed is checked


def main() -> None:
    params = load(Params)
    benchmark = Benchmark("parallelism", resolve(step_times.NUM_DEVICES, params.devices))
    measured = benchmark.repeat(params.bench.starts, step_times.measure, params)
    measured += measure_once(params)
    benchmark.write(measured, findings, jobs_at_once=2, dataset=dataset_name())


if __name__ == "__main__":
    sys.exit(run(main))
