"""What one start of a process measures."""

from lab.core.params import load
from lab.machine.devices import Devices, resolve
from lab.results.measurements import Measurement
from stages.bench_parallel.dependencies import measure_dependencies
from stages.bench_parallel.params import Params
from stages.bench_parallel.products import measure_products
from stages.bench_parallel.waits import measure_waits
from stages.bench_parallel.warm_up import measure_warm_up


def measure(start: int) -> list[Measurement]:
    """All times of start number `start`."""
    params = load(Params)
    return measure_on(params, resolve(2, params.devices), start)


def measure_on(params: Params, devices: Devices, start: int) -> list[Measurement]:
    """All times on two devices; the process's first run comes first."""
    return [
        *measure_warm_up(params, devices, start),
        *measure_products(params, devices, start),
        *measure_dependencies(params, devices, start),
        *measure_waits(params, devices, start),
    ]
