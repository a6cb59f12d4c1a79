"""What one start of bench_async measures: everything, the first product of the process first."""

from lab.core.params import load
from lab.machine.devices import Devices, resolve
from lab.results.measurements import Measurement
from stages.bench_async.back_end_share import measure_back_end_share
from stages.bench_async.careless_clocks import measure_careless_clocks
from stages.bench_async.dependencies import measure_dependencies
from stages.bench_async.params import Params
from stages.bench_async.products import (
    measure_back_end_threads,
    measure_first_product,
    measure_products,
)
from stages.bench_async.small_operations import measure_blockers, measure_run_ahead


def measure(start: int) -> list[Measurement]:
    """Measure all demos once."""
    params = load(Params)
    return measure_all(params, resolve(1, params.devices), start)


def measure_all(params: Params, devices: Devices, start: int) -> list[Measurement]:
    """Measure all demos on `devices`; the profiler last, since it may slow what follows."""
    return [
        *measure_first_product(min(params.bench_async.sizes), devices),
        *measure_back_end_threads(devices),
        *measure_products(params, devices, start),
        *measure_run_ahead(params, devices, start),
        *measure_blockers(params, devices, start),
        *measure_dependencies(devices),
        *measure_careless_clocks(params, devices, start),
        *measure_back_end_share(params, devices),
    ]
