"""Run the stage: `python -m stages.bench_async`."""

import sys

from lab.core.params import load
from lab.core.process import run
from lab.machine.devices import resolve
from lab.machine.fresh_process import call_in_subprocess
from lab.results.measurements import Measurement
from lab.timing.bench import (
    measure_over_launch,
    products,
    size_past_launch_bound,
    sizes_past_launch_bound,
)
from lab.timing.runner import Benchmark
from stages.bench_async import findings
from stages.bench_async.measure.back_end import measure_back_end_share, measure_dependencies
from stages.bench_async.measure.calls import (
    SIZE,
    additions,
    measure_blockers,
    measure_first_product,
    measure_products,
    measure_run_ahead,
)
from stages.bench_async.measure.params import Params
from stages.bench_async.measure.timing_mistakes import NOTES_SIZE, measure_timing_mistakes


def measure(process: int, params: Params, rows: int) -> list[Measurement]:
    """Measure everything in a fresh process; series of operations take a matrix of `rows` rows.

    The process's first multiplication comes first; the profiler comes last, since it may slow what
    follows.
    """
    devices = resolve(1, params.devices)
    device, largest = devices.devices[0], max(params.bench_async.sizes)
    addition, bench = additions(device, params.seed), params.bench
    return [
        *measure_first_product(params, devices),
        *measure_products(params, devices),
        *measure_run_ahead(params, devices, process, rows),
        *measure_blockers(params, devices, process),
        *measure_dependencies(devices),
        *measure_timing_mistakes(params, devices, process),
        *measure_over_launch(
            "product of the largest matrices", products(device), largest, devices, bench
        ),
        *measure_over_launch("operation of the series", addition, rows, devices, bench),
        *measure_back_end_share(params, devices),
    ]


def sized(params: Params) -> tuple[Params, int]:
    """Return the params, and the rows of a series' matrix; on a GPU, both outlast launches.

    On a GPU, matrices compared with NumPy have at least the notes' size, or nothing is queued.
    """
    devices = resolve(1, params.devices)
    device, ours = devices.devices[0], params.bench_async
    sizes = sizes_past_launch_bound(products(device), ours.sizes, devices, params.bench)
    rows = size_past_launch_bound(additions(device, params.seed), SIZE, devices, params.bench)
    book_size = max(ours.book_size, NOTES_SIZE if device.type == "cuda" else 0)
    return params.but(bench_async=ours.but(sizes=sizes, book_size=book_size)), rows


def main() -> None:
    params = load(Params)
    benchmark = Benchmark("bench_async", resolve(1, params.devices))
    params, rows = call_in_subprocess("looking for sizes", sized, params)
    measured = benchmark.repeat(params.bench.starts, measure, params, rows)
    benchmark.write(measured, findings)


if __name__ == "__main__":
    sys.exit(run(main))
