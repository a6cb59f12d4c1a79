"""Run the stage: `python -m stages.bench_parallel`."""

import sys

from lab.core.files import Metrics
from lab.core.params import load
from lab.core.process import run
from lab.machine.devices import resolve
from lab.machine.fresh_process import call_in_subprocess
from lab.results.measurements import Measurement, Results
from lab.timing.bench import (
    launch_bound,
    measure_over_launch,
    products,
    ratio_metrics,
    sizes_past_launch_bound,
    speedup_of,
)
from lab.timing.runner import run_benchmark
from stages.bench_parallel.measure.dependencies import measure_dependencies
from stages.bench_parallel.measure.params import Params
from stages.bench_parallel.measure.two_devices import (
    measure_products,
    measure_waits,
    measure_warm_up,
    products_of_a_run,
)


def measure(process: int, params: Params) -> list[Measurement]:
    """All times of a fresh process, whose first run comes first."""
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


def past_launch_bound(params: Params) -> Params:
    """The same params; on a GPU with largest matrices whose product outlasts its launch."""
    devices, ours = resolve(2, params.devices), params.bench_parallel
    sizes = sizes_past_launch_bound(products(devices.devices[0]), ours.sizes, devices, params.bench)
    sized = ours.model_copy(update={"sizes": sizes})
    return params.model_copy(update={"bench_parallel": sized})


def summarise(results: Results) -> Metrics:
    """The speed-ups of together, with their bound, at the largest size; at the smallest, one."""
    first, second, in_turn, both = (
        results.series("products", variant)
        for variant in ("first alone", "second alone", "one after the other", "together")
    )
    alone = [m.summary.median for m in (first[-1], second[-1])]
    return {
        **ratio_metrics("speedup", speedup_of(in_turn[-1], both[-1])),
        "speedup_bound": round(sum(alone) / max(alone), 4),
        **ratio_metrics("small_speedup", speedup_of(in_turn[0], both[0])),
        **launch_bound(results.measurements),
    }


def main() -> None:
    params = load(Params)
    devices = resolve(2, params.devices)
    count = Measurement(
        "the notes' run", "products of a run", 0, (products_of_a_run(),), "products", devices.kind
    )
    run_benchmark(
        "bench_parallel",
        devices,
        params.bench.starts,
        measure,
        summarise,
        compared=("speedup", "small_speedup"),
        prepare=lambda: [call_in_subprocess("looking for sizes", past_launch_bound, params)],
        once=lambda measured: [count],
        jobs_at_once=2,
    )


if __name__ == "__main__":
    sys.exit(run(main))
