"""Run the stage: `python -m stages.bench_training`."""

import sys
from collections.abc import Sequence
from dataclasses import replace

import torch

from lab.core.exit_codes import run
from lab.core.files import REPORTS, write_metrics, write_rows
from lab.core.params import load
from lab.data.datasets import dataset_name
from lab.machine.devices import Devices, missing_compiler, processor, resolve, usable_cores
from lab.results.measurements import Measurement, Results, rows_of, skip
from lab.timing.bench import Watch, conditions, in_unit, noise_control, ratio_metrics
from lab.training.race import race
from stages.bench_training import names
from stages.bench_training.arms import arms_of, products_per_step
from stages.bench_training.comparisons import fp32_speedup, gain, share_of_peak
from stages.bench_training.params import Params


def measure(params: Params, devices: Devices, cores: int, share: int) -> list[Measurement]:
    """Milliseconds per step of both races' arms; two workers have `share` threads each."""
    p, missing = params.bench_training, missing_compiler()
    races = arms_of(p, devices.devices[0].type, cores, share, p.compile and not missing)
    measured = []
    if p.compile and missing:
        measured = [skip(n, names.COMPILED, f"needs {missing}", devices.kind) for n in names.NETS]
    for net, arms in races.items():
        seconds = race(arms, p.rounds, p.heats)
        product = {names.PRODUCT: seconds.pop(names.PRODUCT)}
        batch_size = arms[names.ENGINE].batch_size
        worth = products_per_step(net, batch_size, arms[names.PRODUCT].batch_size)
        times = in_unit(net, batch_size, seconds, "ms", devices)
        times += in_unit(net, worth, product, "ms", devices)
        measured += [replace(m, threads=arms[m.arm].threads) for m in times]
    x = torch.rand(128, 128, device=devices.devices[0])
    return [*measured, *noise_control(lambda: torch.mm(x, x), devices, params.bench)]


def summarise(measurements: Sequence[Measurement]) -> dict[str, float | str]:
    """The engine against the notes' way and against the peak, two workers against one."""
    results = Results(measurements)
    metrics: dict[str, float | str] = {}
    for net in names.NETS:
        metrics |= ratio_metrics(f"{net}_{names.FP32_SPEEDUP}", fp32_speedup(results, net))
        share = share_of_peak(results, net)
        metrics[f"{net}_{names.FP32_OF_PEAK}"] = round(share.median, 4)
    if workers := gain(results, names.LENET, names.TWO_WORKERS, over=names.ONE_WORKER):
        metrics |= ratio_metrics(names.TWO_WORKERS_SPEEDUP, workers)
    return metrics


def main() -> None:
    """Measure and write rows and metrics."""
    params = load(Params)
    watch, devices, cores = Watch(), resolve(1, params.devices), usable_cores()
    share = devices.threads
    if devices.kind == "cpu-virtual":  # arms of one process have the processor to themselves
        devices = processor(cores)
    measured = measure(params, devices, cores, share)
    write_rows(REPORTS / "bench_training", rows_of(measured))
    head = {"dataset": dataset_name(), **conditions(measured, devices, watch), "cores": cores}
    write_metrics(REPORTS / "bench_training", head | summarise(measured))


if __name__ == "__main__":
    sys.exit(run(main))
