"""Adding many numbers in a Python loop, and in one call (section 12.4)."""

import torch

from lab.machine.devices import Devices
from lab.results.measurements import Measurement
from lab.timing.bench import in_unit, time_variants
from stages.bench_hardware.measure.names import ADDING, LOOP, ONE_CALL
from stages.bench_hardware.measure.params import Params

COUNT = 10_000


def measure_adding(params: Params, host: Devices, start: int) -> list[Measurement]:
    """Microseconds of adding two vectors element by element and at once."""
    a, b = torch.rand(2, COUNT, generator=torch.Generator().manual_seed(params.seed))
    x, y = a.tolist(), b.tolist()
    z = [0.0] * COUNT

    def loop() -> None:
        for i in range(len(x)):  # as the notes' slide has it
            z[i] = x[i] + y[i]

    variants = {LOOP: loop, ONE_CALL: lambda: a + b}
    times = time_variants(variants, [], params.bench, start, control=ONE_CALL)
    return in_unit(ADDING, COUNT, times, "us", host)
