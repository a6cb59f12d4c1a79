"""Run the stage: `python -m stages.bench_parallel`."""

import sys

from lab.core.params import load
from lab.core.process import run
from lab.machine.devices import resolve
from lab.machine.fresh_process import call_in_subprocess
from lab.results.measurements import Measurement
from lab.timing.bench import measure_over_launch, products, sizes_past_launch_bound
from lab.timing.runner import Benchmark
from stages.bench_parallel import findings
from stages.bench_parallel.measure.dependencies import measure_dependencies
from stages.bench_parallel.measure.params import Params
from stages.bench_parallel.measure.two_devices import (
    measure_products,
    measure_waits,
    measure_warm_up,
    products_of_a_run,
)


def measure(process: int, params: Params) -> list[Measurement]:
    """Measure all times in a fresh process; its first run comes first."""
    devices = resolve(2, params.devices)
    product, rows = products(devices.devices[0]), params.bench_parallel.largest
    return [
        *measure_warm_up(params, devices),
        *measure_products(params, devices, process),
        *measure_dependencies(params, devices, process),
        *measure_waits(params, devices, process),
        *measure_over_launch(
            "product of the largest matrices", product, rows, devices, params.bench
        ),
    ]


def sized(params: Params) -> Params:
    """Return the params; on a GPU, the largest matrices' product outlasts its launch."""
    devices, ours = resolve(2, params.devices), params.bench_parallel
    sizes = sizes_past_launch_bound(products(devices.devices[0]), ours.sizes, devices, params.bench)
    return params.but(bench_parallel=ours.but(sizes=sizes))


def main() -> None:
    params = load(Params)
    devices = resolve(2, params.devices)
    benchmark = Benchmark("bench_parallel", devices)
    params = call_in_subprocess("looking for sizes", sized, params)
    measured = benchmark.repeat(params.bench.starts, measure, params)
    measured.append(
        Measurement(
            "the notes' run",
            "products of a run",
            0,
            (products_of_a_run(),),
            "products",
            devices.kind,
        )
    )
    benchmark.write(measured, findings, jobs_at_once=2)


if __name__ == "__main__":
    sys.exit(run(main))
