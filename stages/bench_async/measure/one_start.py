"""What one start of bench_async measures: everything, the first product of the process first."""

from lab.machine.devices import Devices, resolve
from lab.machine.gpus.errors import gpu_errors
from lab.results.measurements import Measurement
from lab.timing.bench import (
    measure_over_launch,
    products,
    size_past_launch_bound,
    sizes_past_launch_bound,
)
from stages.bench_async.measure import names
from stages.bench_async.measure.back_end_share import measure_back_end_share
from stages.bench_async.measure.careless_clocks import measure_careless_clocks
from stages.bench_async.measure.dependencies import measure_dependencies
from stages.bench_async.measure.params import Params
from stages.bench_async.measure.products import measure_first_product, measure_products
from stages.bench_async.measure.small_operations import (
    SIZE,
    additions,
    measure_blockers,
    measure_run_ahead,
)


def lasting(params: Params) -> tuple[Params, int]:
    """The same params, and the rows of a series' matrix; on a GPU those that outlast a launch."""
    devices = resolve(1, params.devices)
    device, ours = devices.devices[0], params.bench_async
    with gpu_errors():
        sizes = sizes_past_launch_bound(products(device), ours.sizes, devices, params.bench)
        rows = size_past_launch_bound(additions(device, params.seed), SIZE, devices, params.bench)
    sized = ours.model_copy(update={"sizes": sizes})
    return params.model_copy(update={"bench_async": sized}), rows


def measure(start: int, params: Params, rows: int) -> list[Measurement]:
    """Measure all experiments once; the series on a matrix of so many rows."""
    return measure_all(params, resolve(1, params.devices), start, rows)


def measure_all(
    params: Params, devices: Devices, start: int, rows: int = SIZE
) -> list[Measurement]:
    """Measure all experiments on `devices`; the profiler last, since it may slow what follows."""
    device, largest = devices.devices[0], max(params.bench_async.sizes)
    addition = additions(device, params.seed)
    return [
        *measure_first_product(min(params.bench_async.sizes), devices),
        *measure_products(params, devices),
        *measure_run_ahead(params, devices, start, rows),
        *measure_blockers(params, devices, start),
        *measure_dependencies(devices),
        *measure_careless_clocks(params, devices, start),
        *measure_over_launch(
            names.LARGEST_PRODUCT, products(device), largest, devices, params.bench
        ),
        *measure_over_launch(names.ADDITION, addition, rows, devices, params.bench),
        *measure_back_end_share(params, devices),
    ]
