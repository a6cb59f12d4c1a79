"""What one start of a process measures."""

from lab.machine.devices import Devices, resolve
from lab.machine.gpus.errors import gpu_errors
from lab.results.measurements import Measurement
from lab.timing.bench import measure_over_launch, products, sizes_past_launch_bound
from stages.bench_parallel.measure import names
from stages.bench_parallel.measure.dependencies import measure_dependencies
from stages.bench_parallel.measure.params import Params
from stages.bench_parallel.measure.products import measure_products
from stages.bench_parallel.measure.waits import measure_waits
from stages.bench_parallel.measure.warm_up import measure_warm_up


def lasting(params: Params) -> Params:
    """The same params; on a GPU with largest matrices whose product outlasts its launch."""
    devices, ours = resolve(2, params.devices), params.bench_parallel
    with gpu_errors():
        sizes = sizes_past_launch_bound(
            products(devices.devices[0]), ours.sizes, devices, params.bench
        )
    sized = ours.model_copy(update={"sizes": sizes})
    return params.model_copy(update={"bench_parallel": sized})


def measure(start: int, params: Params) -> list[Measurement]:
    """All times of start number `start`."""
    return measure_on(params, resolve(2, params.devices), start)


def measure_on(params: Params, devices: Devices, start: int) -> list[Measurement]:
    """All times on two devices; the process's first run comes first."""
    product, rows = products(devices.devices[0]), params.bench_parallel.largest
    return [
        *measure_warm_up(params, devices),
        *measure_products(params, devices, start),
        *measure_dependencies(params, devices, start),
        *measure_waits(params, devices, start),
        *measure_over_launch(names.ONE_PRODUCT, product, rows, devices, params.bench),
    ]
