"""Run the stage: `python -m stages.bench_hardware`."""

import sys
from collections.abc import Sequence

import torch

from lab.core.exit_codes import run
from lab.core.files import REPORTS, write_metrics, write_rows
from lab.core.params import load
from lab.machine.devices import Devices, processor, resolve, usable_cores
from lab.results.measurements import Measurement, Results, rows_of
from lab.timing import bench
from stages.bench_hardware import matmul, names
from stages.bench_hardware.adding import measure_adding
from stages.bench_hardware.memory_access import measure_latency, measure_order, measure_stride
from stages.bench_hardware.params import Params
from stages.bench_hardware.peak import measure_peak, measure_processor_peak
from stages.bench_hardware.roofline import measure_networks
from stages.bench_hardware.trips import measure_trips


def measure(params: Params, devices: Devices, target: Devices, cores: int) -> list[Measurement]:
    """Measure the processor, the way to a device, and the networks on `target`."""
    one = processor(1)
    measured = [
        *measure_latency(params, one),
        *measure_order(params, one),
        *measure_stride(params, one),
        *matmul.measure_matmul(params, one),
        *measure_adding(params, one),
        *measure_processor_peak(params, cores),
        *measure_trips(params, devices),
    ]
    torch.set_num_threads(target.threads)
    if target.kind != "cpu":
        measured += measure_peak(params, target)
    measured += measure_networks(params, target)
    one, x = processor(1), torch.rand(matmul.SIZE, matmul.SIZE)
    return measured + bench.noise_control(lambda: torch.mm(x, x), one, params.bench)


def summarise(measurements: Sequence[Measurement]) -> dict[str, float | str]:
    """What order and vectors gain, and the roof over the networks: peak rate and bandwidth."""
    results = Results(measurements)
    metrics: dict[str, float | str] = {}
    for name, demo, old_arm, new_arm in (
        (names.ROWS_OVER_COLUMNS, names.ORDER, names.BY_COLUMNS, names.BY_ROWS),
        (names.VECTORISED, names.ADDING, names.LOOP, names.ONE_CALL),
    ):
        old, new = results.one(demo, old_arm), results.one(demo, new_arm)
        if old and new:
            metrics |= bench.ratio_metrics(name, bench.speedup_of(old, new))
    kinds = {m.device_kind for m in measurements if m.demo == names.NETWORK}
    for name, demo, arm in (
        (names.PEAK_RATE, names.PEAK, names.FLOAT32),
        (names.COPY_RATE, names.BANDWIDTH, names.COPY),
    ):
        rates = [m for m in results.series(demo, arm) if m.device_kind in kinds]
        if rates:
            best = max(rates, key=lambda m: m.summary.median)
            metrics |= bench.median_metrics(name, best.values)
    return metrics


def main() -> None:
    """Measure and write rows and metrics."""
    params = load(Params)
    watch, devices, cores = bench.Watch(), resolve(1, params.devices), usable_cores()
    target = processor(cores) if devices.kind == "cpu-virtual" else devices
    measured = measure(params, devices, target, cores)
    write_rows(REPORTS / "bench_hardware", rows_of(measured))
    conditions = bench.conditions(measured, target, watch)
    write_metrics(REPORTS / "bench_hardware", conditions | summarise(measured))


if __name__ == "__main__":
    sys.exit(run(main))
