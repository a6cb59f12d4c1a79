"""Adding many numbers in a Python loop, and in one call (section 12.4)."""

import torch

from lab.machine.devices import Devices
from lab.results.measurements import Measurement
from lab.timing.bench import in_unit, time_arms
from stages.bench_hardware.names import ADDING, LOOP, ONE_CALL
from stages.bench_hardware.params import Params

COUNT = 10_000


def measure_adding(params: Params, host: Devices) -> list[Measurement]:
    """Microseconds of adding two vectors element by element and at once."""
    a, b = torch.rand(2, COUNT, generator=torch.Generator().manual_seed(params.seed))
    x, y = a.tolist(), b.tolist()
    arms = {LOOP: lambda: [p + q for p, q in zip(x, y, strict=True)], ONE_CALL: lambda: a + b}
    return in_unit(ADDING, COUNT, time_arms(arms, [], params.bench), "us", host)
