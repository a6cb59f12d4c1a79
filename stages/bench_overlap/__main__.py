"""Run the stage: `python -m stages.bench_overlap`."""

import sys

from lab.core.params import load
from lab.core.process import run
from lab.machine.devices import resolve
from lab.machine.fresh_process import call_in_subprocess
from lab.results.measurements import Measurement
from lab.timing.bench import measure_over_launch, products, size_past_launch_bound
from lab.timing.runner import Benchmark
from stages.bench_overlap import findings
from stages.bench_overlap.measure.gradients import BATCH_SIZE, lenet_passes, measure_gradients
from stages.bench_overlap.measure.overlap import (
    measure_return,
    measure_times,
    overlap_fractions,
    work_of,
)
from stages.bench_overlap.measure.params import Params
from stages.bench_overlap.measure.timeline import timelines

NOTES_RESULTS = 50  # matrix multiplications


def measure(process: int, params: Params, images: int) -> list[Measurement]:
    """Measure everything in a fresh process; backward passes take `images` images."""
    devices, bench = resolve(1, params.devices), params.bench
    device, size = devices.devices[0], params.bench_overlap.size
    work, passes = work_of(params, device), lenet_passes(device, params.seed)
    return [
        *measure_times(work, params, devices, process),
        *measure_return(work, devices, bench.rounds),
        *measure_gradients(params, devices, images),
        *measure_over_launch("product", products(device), size, devices, bench),
        *measure_over_launch("LeNet's forward and backward pass", passes, images, devices, bench),
    ]


def sized(params: Params) -> tuple[Params, int]:
    """Return the params, and the images of a backward pass; on a GPU, both outlast launches.

    On a GPU, there are at least the notes' 50 results: all copies but one can overlap.
    """
    devices, ours = resolve(1, params.devices), params.bench_overlap
    device, bench = devices.devices[0], params.bench
    size = size_past_launch_bound(products(device), ours.size, devices, bench)
    passes = lenet_passes(device, params.seed)
    images = size_past_launch_bound(passes, BATCH_SIZE, devices, bench)
    count = max(ours.num_results, NOTES_RESULTS if device.type == "cuda" else 0)
    return params.but(bench_overlap=ours.but(size=size, num_results=count)), images


def main() -> None:
    params = load(Params)
    devices = resolve(1, params.devices)
    benchmark = Benchmark("bench_overlap", devices)
    params, images = call_in_subprocess("looking for sizes", sized, params)
    measured = benchmark.repeat(params.bench.starts, measure, params, images)
    measured += [*overlap_fractions(measured), *timelines(params, devices)]
    benchmark.write(
        measured,
        findings,
        jobs_at_once=2,
        workload=params.bench_overlap.workload,
        num_results=params.bench_overlap.num_results,
    )


if __name__ == "__main__":
    sys.exit(run(main))
