"""A process's first run, its second and later ones: how long it takes to warm up."""

from torch import Tensor

from lab.machine.devices import Devices
from lab.results.measurements import Measurement
from lab.timing.bench import in_unit
from lab.timing.clock import read_clock
from stages.bench_parallel.measure import names
from stages.bench_parallel.measure.params import Params
from stages.bench_parallel.measure.products import random_matrices, run


def measure_warm_up(params: Params, devices: Devices) -> list[Measurement]:
    """Time the first run of this process, before anything else computes in it, and later runs."""
    size = params.bench_parallel.largest
    x = random_matrices(size, devices, params.seed)[0]
    times = {
        names.FIRST_RUN: (_seconds(x),),
        names.SECOND_RUN: (_seconds(x),),
        names.LATER_RUN: tuple(_seconds(x) for _ in range(params.bench.rounds)),
    }
    return in_unit(names.WARM_UP, size, times, "ms", devices)


def _seconds(x: Tensor) -> float:
    start = read_clock([x.device])
    run(x)
    return read_clock([x.device]) - start
