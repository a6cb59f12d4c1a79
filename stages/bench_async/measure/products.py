"""Matrix products: the first of a process, and until call and result."""

from functools import partial

import torch

from lab.machine.devices import Devices
from lab.results.measurements import Measurement
from lab.timing.bench import in_unit
from stages.bench_async.measure import names
from stages.bench_async.measure.call_times import call_times
from stages.bench_async.measure.params import Params


def measure_first_product(size: int, devices: Devices) -> list[Measurement]:
    """Time the process's very first product, which pays for threads, libraries and memory.

    Only right if nothing has been multiplied before.
    """
    a = torch.ones(size, size).to(devices.devices[0])
    _, finishes = call_times(lambda: torch.mm(a, a), devices, rounds=1)
    return in_unit(names.FIRST_PRODUCT, size, {names.NO_WARM_UP: finishes}, "us", devices)


def measure_products(params: Params, devices: Devices) -> list[Measurement]:
    """Time products until call and result."""
    generator = torch.Generator().manual_seed(params.seed)
    measured = []
    for n in params.bench_async.sizes:
        a = torch.randn(n, n, generator=generator).to(devices.devices[0])
        product = partial(torch.mm, a, a, out=torch.empty_like(a))
        product()  # warm-up
        returns, finishes = call_times(product, devices, params.bench.rounds)
        both = {names.CALL_RETURNS: returns, names.RESULT_THERE: finishes}
        measured += in_unit(names.PRODUCT, n, both, "us", devices)
    return measured
