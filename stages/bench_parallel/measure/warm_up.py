"""A process's first run against its later ones, and against some with the caches emptied.

The notes run once before they take times, so that caches do not affect these. If caches are what
the first run lacks, emptying them makes any run as slow.
"""

import torch
from torch import Tensor

from lab.machine.devices import Devices
from lab.results.measurements import Measurement
from lab.timing.bench import in_unit, turns
from lab.timing.clock import read_clock
from stages.bench_parallel.measure import names
from stages.bench_parallel.measure.params import Params
from stages.bench_parallel.measure.products import random_matrices, run

WRITTEN_MIB = 256  # to empty the caches of a processor or a GPU, which are smaller


def measure_warm_up(params: Params, devices: Devices, start: int) -> list[Measurement]:
    """Time the first run of this process, before anything else computes in it, and later runs."""
    size = params.bench_parallel.largest
    x = random_matrices(size, devices, params.seed)[0]
    times = {names.FIRST_RUN: (_seconds(x),), names.SECOND_RUN: (_seconds(x),)}
    rubbish = torch.empty(WRITTEN_MIB * 2**18, device=x.device)
    arms = (names.LATER_RUN, names.EMPTIED_CACHES)
    for name in turns(arms, params.bench.rounds, start * params.bench.rounds):
        if name == names.EMPTIED_CACHES:
            rubbish.fill_(1)
        times[name] = (*times.get(name, ()), _seconds(x))
    return in_unit(names.WARM_UP, size, times, "ms", devices)


def _seconds(x: Tensor) -> float:
    start = read_clock([x.device])
    run(x)
    return read_clock([x.device]) - start
