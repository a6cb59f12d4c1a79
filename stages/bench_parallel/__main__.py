"""Run the stage: `python -m stages.bench_parallel`."""

import sys
from collections.abc import Sequence

import torch

from lab.core.exit_codes import run
from lab.core.files import REPORTS, write_metrics, write_rows
from lab.core.params import load
from lab.machine.devices import Devices, resolve
from lab.parallel.device_workers import workers_on
from lab.results.measurements import Measurement, Results, rows_of
from lab.timing.bench import Watch, conditions, noise_control, ratio_metrics, speedup_of
from stages.bench_parallel import names
from stages.bench_parallel.careless_wait import measure_careless_wait
from stages.bench_parallel.params import Params
from stages.bench_parallel.products import measure_products, products

CONTROL_PRODUCTS = 10  # of the smallest size, in the noise control


def measure(params: Params, devices: Devices) -> list[Measurement]:
    """All demos and the noise control."""
    worker, size = workers_on(devices.devices)[0], min(params.bench_parallel.sizes)
    generator = torch.Generator().manual_seed(params.seed)
    job = products(worker, size, CONTROL_PRODUCTS, generator)
    return [
        *measure_products(params, devices),
        *measure_careless_wait(params, devices),
        *noise_control(lambda: worker.run(job), devices, params.bench),
    ]


def summarise(measurements: Sequence[Measurement]) -> dict[str, float | str]:
    """The speed-up of together, with its bound, at the largest size, and that at the smallest."""
    results = Results(measurements)
    first, second, in_turn, both = (
        results.series(names.PRODUCTS, arm)
        for arm in (names.FIRST, names.SECOND, names.ONE_AFTER_THE_OTHER, names.TOGETHER)
    )
    alone = [m.summary.median for m in (first[-1], second[-1])]
    return {
        **ratio_metrics(names.SPEEDUP, speedup_of(in_turn[-1], both[-1])),
        names.SPEEDUP_BOUND: round(sum(alone) / max(alone), 4),
        **ratio_metrics(names.SMALL_SPEEDUP, speedup_of(in_turn[0], both[0])),
    }


def main() -> None:
    """Measure and write rows and metrics."""
    params = load(Params)
    watch, devices = Watch(), resolve(2, params.devices)
    measured = measure(params, devices)
    write_rows(REPORTS / "bench_parallel", rows_of(measured))
    write_metrics(
        REPORTS / "bench_parallel", conditions(measured, devices, watch) | summarise(measured)
    )


if __name__ == "__main__":
    sys.exit(run(main))
