"""Run the stage: `python -m stages.bench_async`."""

import sys
from collections.abc import Sequence

import torch

from lab.core.exit_codes import run
from lab.core.files import REPORTS, write_metrics, write_rows
from lab.core.params import load
from lab.machine.devices import Devices, resolve
from lab.results.measurements import Measurement, Results, rows_of
from lab.timing.bench import Watch, conditions, noise_control, ratio_metrics, speedup_of
from stages.bench_async import names
from stages.bench_async.careless_clocks import measure_careless_clocks
from stages.bench_async.params import Params
from stages.bench_async.products import measure_first_product, measure_products
from stages.bench_async.small_operations import (
    measure_blockers,
    measure_dependencies,
    measure_run_ahead,
    small_matrix,
)


def measure(params: Params, devices: Devices) -> list[Measurement]:
    """All demos, the first product of the process first."""
    first = measure_first_product(min(params.bench_async.sizes), devices)
    x = small_matrix(params.seed, devices.devices[0])
    return [
        *first,
        *measure_products(params, devices),
        *measure_run_ahead(params, devices),
        *measure_blockers(params, devices),
        *measure_dependencies(devices),
        *measure_careless_clocks(params, devices),
        *noise_control(lambda: torch.mm(x, x), devices, params.bench),
    ]


def summarise(measurements: Sequence[Measurement]) -> dict[str, float | str]:
    """How soon calls return, how fast torch is, fairly and as the notes time it, and warm-up."""
    results = Results(measurements)
    returns, finishes, torch_, numpy, claimed, book_numpy = (
        results.series(demo, arm)[-1]
        for demo, arm in (
            (names.PRODUCT, names.CALL_RETURNS),
            (names.PRODUCT, names.RESULT_THERE),
            (names.NUMPY_TORCH, names.TORCH),
            (names.NUMPY_TORCH, names.NUMPY),
            (names.BOOK, names.NOT_WAITED_FOR),
            (names.BOOK, names.BOOK_NUMPY),
        )
    )
    [first] = results.series(names.FIRST_PRODUCT, names.NO_WARM_UP)
    [steady] = [m for m in results.series(names.PRODUCT, names.RESULT_THERE) if m.x == first.x]
    return {
        **ratio_metrics(names.RETURN_OVER_FINISH, speedup_of(returns, finishes)),
        **ratio_metrics(names.TORCH_OVER_NUMPY, speedup_of(numpy, torch_)),
        **ratio_metrics(names.BOOK_CLAIMS, speedup_of(book_numpy, claimed)),
        names.NO_WARM_UP_OVER_STEADY: round(first.values[0] / steady.summary.median, 3),
    }


def main() -> None:
    """Measure all demos and write rows and metrics."""
    params = load(Params)
    watch, devices = Watch(), resolve(1, params.devices)
    measured = measure(params, devices)
    write_rows(REPORTS / "bench_async", rows_of(measured))
    write_metrics(
        REPORTS / "bench_async", conditions(measured, devices, watch) | summarise(measured)
    )


if __name__ == "__main__":
    sys.exit(run(main))
