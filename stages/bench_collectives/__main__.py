"""Run the stage: `python -m stages.bench_collectives`."""

import sys
from collections.abc import Sequence

import torch

from lab.core.files import REPORTS, write_metrics, write_rows
from lab.core.params import load
from lab.core.process import run
from lab.machine.devices import Devices, for_ranks, usable_cores
from lab.machine.hardware import write_conditions
from lab.parallel.cost_model import ONE_BUCKET, PER_TENSOR, STAR, allreduce_name
from lab.results.measurements import Measurement, Results, rows_of, skip
from lab.timing import bench
from lab.timing.conditions import LoadMonitor, conditions
from stages.bench_collectives.measure import names
from stages.bench_collectives.measure.among_ranks import measure_among_ranks
from stages.bench_collectives.measure.params import Params
from stages.bench_collectives.measure.predicted_times import model_of


def measure(params: Params, devices: Devices, cores: int) -> list[Measurement]:
    """Time all-reduces among ranks; say what this machine cannot."""
    p = params.bench_collectives
    world_sizes = sorted(n for n in p.world_sizes if n <= len(devices.devices))
    measured = measure_among_ranks(p, params.bench, world_sizes, devices, cores)
    if devices.kind != "cuda":
        reason = f"needs {world_sizes[0]} CUDA GPUs, found {torch.cuda.device_count()}"
        return [*measured, skip(names.NCCL, names.BETWEEN_GPUS, reason, devices.kind)]
    for n in sorted(set(p.world_sizes) - set(world_sizes)):
        reason = f"needs {n} CUDA GPUs, found {len(devices.devices)}"
        experiment = names.of_one_message(n)
        measured.append(skip(experiment, experiment, reason, devices.kind))
    return measured


def summarise(measurements: Sequence[Measurement]) -> dict[str, float | str]:
    """The fitted link, how well it predicts more ranks, and what a bucket gains by the star."""
    results = Results(measurements)
    model = model_of(results)
    link = model.fit.link
    rate = round(1e-9 / link.s_per_byte, 4) if link.s_per_byte > 0 else "unbounded"
    metrics: dict[str, float | str] = {
        names.LINK: names.SHARED if model.fit.shared else names.OWN,
        names.LATENCY: round(1e6 * link.alpha_s, 4),
        names.BANDWIDTH: rate,
    }
    if model.many > model.few:
        metrics[names.UNSEEN_ERROR] = round(model.unseen_error(model.fit), 1)
    for net in results.variants(names.TENSORS):
        each, joined = (
            results.series(names.of_ranks(net, model.few), allreduce_name(STAR, grouping))[0]
            for grouping in (PER_TENSOR, ONE_BUCKET)
        )
        metrics |= bench.ratio_metrics(names.bucket_speedup(net), bench.speedup_of(each, joined))
    return metrics


def main() -> None:
    """Measure and write rows and metrics."""
    params = load(Params)
    cores = usable_cores()
    watch, devices = LoadMonitor(), for_ranks(params.bench_collectives.world_sizes, params.devices)
    measured = measure(params, devices, cores)
    write_rows(REPORTS / "bench_collectives", rows_of(measured))
    head = {
        **conditions(measured, devices, watch, params.bench.starts, jobs_at_once=2),
        "cores": cores,
    }
    write_conditions(REPORTS / "bench_collectives")
    write_metrics(REPORTS / "bench_collectives", head | summarise(measured))


if __name__ == "__main__":
    sys.exit(run(main))
