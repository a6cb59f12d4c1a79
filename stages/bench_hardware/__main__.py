"""Run the stage: `python -m stages.bench_hardware`."""

import sys
from collections.abc import Sequence

from lab.core.files import REPORTS, write_metrics, write_rows
from lab.core.params import load
from lab.core.process import run
from lab.machine.hardware import write_conditions
from lab.results.measurements import Measurement, Results, rows_of
from lab.timing import bench
from lab.timing.conditions import LoadMonitor, conditions
from lab.timing.runner import measure_in_starts
from stages.bench_hardware.measure import names, one_start
from stages.bench_hardware.measure.params import Params
from stages.bench_hardware.measure.roofline import count_networks, network_device
from stages.bench_hardware.measure.stem import count_stems


def summarise(measurements: Sequence[Measurement]) -> dict[str, float | str]:
    """What vectors gain, and the roof over the networks: peak rate and bandwidth."""
    results = Results(measurements)
    loop, one_call = (
        results.series(names.ADDING, variant)[0] for variant in (names.LOOP, names.ONE_CALL)
    )
    metrics = bench.ratio_metrics(names.VECTORISED, bench.speedup_of(loop, one_call))
    kinds = {m.device_kind for m in measurements if m.experiment == names.NETWORK}
    for name, experiment, variant in (
        (names.PEAK_RATE, names.PEAK, names.FLOAT32),
        (names.COPY_RATE, names.BANDWIDTH, names.COPY),
    ):
        rates = [m for m in results.series(experiment, variant) if m.device_kind in kinds]
        if rates:
            metrics |= bench.median_metrics(name, rates[-1].values)  # on all cores, or the GPU
    return metrics


def main() -> None:
    """Measure and write rows and metrics."""
    params = load(Params)
    watch, target = LoadMonitor(), network_device(params)
    measured = [
        *count_networks(params, target),
        *count_stems(params, target),
        *measure_in_starts(one_start, params.bench.starts),
    ]
    write_rows(REPORTS / "bench_hardware", rows_of(measured))
    found = conditions(measured, target, watch, params.bench.starts)
    write_conditions(REPORTS / "bench_hardware")
    write_metrics(REPORTS / "bench_hardware", found | summarise(measured))


if __name__ == "__main__":
    sys.exit(run(main))
