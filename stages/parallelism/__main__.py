"""Run the stage: `python -m stages.parallelism`."""

import sys
from collections.abc import Sequence

import torch

from lab.core.files import REPORTS, write_metrics, write_rows
from lab.core.params import load
from lab.core.process import run
from lab.data.datasets import Split, dataset_name, read_fashion_mnist
from lab.machine.devices import Devices, for_ranks, resolve
from lab.machine.hardware import write_conditions
from lab.results.curves import Curve, line, rows_of
from lab.results.measurements import Measurement
from lab.timing.conditions import LoadMonitor, conditions
from lab.timing.runner import measure_in_starts
from stages.parallelism.measure import one_start
from stages.parallelism.measure.cost_by_kind import measure_kinds, measure_wide_net
from stages.parallelism.measure.exchange import measure_allreduce
from stages.parallelism.measure.flop_per_byte import measure_ratio
from stages.parallelism.measure.names import (
    DATA,
    DIFFERENCE_EPS,
    FLOP_PER_BYTE,
    IDLE_BY_FLOP_PERCENT,
    IDLE_PERCENT,
    INCEPTION_OVER_RESNET,
    LARGEST_DIFFERENCE_EPS,
    MOVED_MB,
    PIPELINE,
    PIPELINE_IDLE,
    PIPELINE_IDLE_BY_FLOP,
    RANKED,
    RESNET_OVER_ALEXNET,
    TENSOR,
    crossing_images,
    in_micro_batches,
    on_devices,
)
from stages.parallelism.measure.params import ParallelismParams, Params
from stages.parallelism.measure.torch_ranks import measure_by_torch, time_by_torch

Experiments = dict[str, dict[str, Curve]]


def measure(params: Params, devices: Devices, images: Split) -> list[Curve]:
    """Count what the kinds of parallelism cost, then the networks' FLOP per byte."""
    torch.backends.cudnn.deterministic = True  # the same seed, the same bits
    p, seed = params.parallelism, params.seed
    return [
        *measure_kinds(p, devices, images, seed),
        *measure_wide_net(p, devices, seed),
        *measure_allreduce(p.num_devices, seed),
        *measure_ratio(p.batch_sizes),
    ]


def by_start(timed: Sequence[Measurement]) -> list[Curve]:
    """The times of each variant by start, in milliseconds."""
    return [line(m.experiment, m.variant, range(len(m.values)), m.values) for m in timed]


def summarise(curves: Sequence[Curve], params: ParallelismParams) -> dict[str, float | str]:
    """Where data parallel begins to move less, how idle a pipeline is, and the notes' ranking."""
    experiments: Experiments = {}
    for c in curves:
        experiments.setdefault(c.experiment, {})[c.series] = c
    return _of_kinds(experiments, params) | _of_networks(experiments)


def _of_kinds(experiments: Experiments, params: ParallelismParams) -> dict[str, float | str]:
    moved = experiments[MOVED_MB]
    piped = on_devices(in_micro_batches(params.num_micro_batches), max(params.num_devices))
    rounding = max(float(c.y[0]) for c in experiments[DIFFERENCE_EPS].values())
    return {
        LARGEST_DIFFERENCE_EPS: round(rounding, 4),
        **{
            crossing_images(on_devices(kind, count)): round(
                crossing_batch(moved[on_devices(kind, count)], moved[on_devices(DATA, count)]), 3
            )
            for count in params.num_devices
            for kind in (PIPELINE, TENSOR)
        },
        PIPELINE_IDLE: round(float(experiments[IDLE_PERCENT][piped].y[0]), 3),
        PIPELINE_IDLE_BY_FLOP: round(float(experiments[IDLE_BY_FLOP_PERCENT][piped].y[0]), 3),
    }


def crossing_batch(growing: Curve, level: Curve) -> float:
    """The batch size at which a line through two points meets a level."""
    slope = (growing.y[-1] - growing.y[0]) / (growing.x[-1] - growing.x[0])
    return float(growing.x[0] + (level.y[0] - growing.y[0]) / slope)


def _of_networks(experiments: Experiments) -> dict[str, float | str]:
    """The closest pair of each two neighbours of the notes' ranking; over 1 where it holds."""
    per_image = {name: float(c.y[0]) for name, c in experiments[FLOP_PER_BYTE].items()}
    inception, resnet, alexnet = ([per_image[name] for name in names] for names in RANKED)
    return {
        INCEPTION_OVER_RESNET: round(min(inception) / max(resnet), 4),
        RESNET_OVER_ALEXNET: round(min(resnet) / max(alexnet), 4),
    }


def main() -> None:
    """Count and time, and write rows and metrics."""
    params, watch = load(Params), LoadMonitor()
    p, starts = params.parallelism, params.bench.starts
    timed = measure_in_starts(one_start, starts) + time_by_torch(params)
    by_torch = measure_by_torch(p, for_ranks(p.num_devices, params.devices), params.seed)
    timed_on = resolve(one_start.NUM_DEVICES, params.devices)
    devices = resolve(max(p.num_devices), params.devices)
    images = read_fashion_mnist("train").first(p.batch_sizes[-1])
    curves = [*by_torch, *measure(params, devices, images)]
    write_rows(REPORTS / "parallelism", rows_of([*curves, *by_start(timed)]))
    about = {
        "dataset": dataset_name(),
        **conditions(timed, timed_on, watch, starts, jobs_at_once=2),
    }
    write_conditions(REPORTS / "parallelism")
    write_metrics(REPORTS / "parallelism", about | summarise(curves, p))


if __name__ == "__main__":
    sys.exit(run(main))
