"""Run the stage: `python -m stages.parallelism`."""

import sys
from collections.abc import Iterator
from functools import partial
from itertools import chain

import torch

from lab.core.files import Metrics
from lab.core.params import load
from lab.core.process import run
from lab.data.datasets import Split, dataset_name, read_fashion_mnist
from lab.machine.devices import Devices, for_ranks, resolve
from lab.results.measurements import Measurement, Results
from lab.timing.clock import synchronize
from lab.timing.runner import Measured, run_benchmark
from stages.parallelism.measure import step_times
from stages.parallelism.measure.by_torch import measure_by_torch
from stages.parallelism.measure.costs import (
    measure_allreduce,
    measure_dense,
    measure_lenet,
    measure_networks,
)
from stages.parallelism.measure.names import (
    DATA,
    INCEPTION_OVER_RESNET,
    LENET,
    PIPELINE,
    RANKED,
    RESNET_OVER_ALEXNET,
    TENSOR,
    crossing_images,
)
from stages.parallelism.measure.params import ParallelismParams, Params
from stages.parallelism.measure.schedule import idle_share, schedule


def measure_once(params: Params, timed: Measured) -> Iterator[Measurement]:
    """All that is counted: of torch's libraries in ranks, then of what is done by hand."""
    p = params.parallelism
    yield from measure_by_torch(p, for_ranks([min(p.num_devices)], params.devices), params.seed)
    images = read_fashion_mnist("train").first(p.batch_sizes[-1])
    yield from count(params, resolve(max(p.num_devices), params.devices), images)


def count(params: Params, devices: Devices, images: Split) -> Iterator[Measurement]:
    """What the kinds by hand and the all-reduces cost, and the networks' FLOP per byte."""
    torch.backends.cudnn.deterministic = True  # the same seed, the same bits
    p, seed = params.parallelism, params.seed
    yield from measure_lenet(p, devices, images, seed)
    yield from measure_dense(p, devices, seed)
    yield from measure_allreduce(p.num_devices, seed)
    yield from measure_networks()
    synchronize(devices.devices)  # nothing is at work while the machine's speed is looked at


def summarise(p: ParallelismParams, results: Results) -> Metrics:
    """Where data parallelism begins to send less, how idle a pipeline is, the notes' ranking."""
    most = max(p.num_devices)
    [idle_by_flop] = results.series(
        "idle by FLOP", PIPELINE, devices=most, micro_batches=p.num_micro_batches
    )
    roundings = [m.values[0] for m in results.measurements if m.experiment == "gradient"]
    return {
        "largest_difference_eps": round(max(roundings), 4),
        **{
            crossing_images(kind, n): round(crossing_batch(results, kind, n), 3)
            for n in p.num_devices
            for kind in (PIPELINE, TENSOR)
        },
        "pipeline_idle_percent": round(
            100 * idle_share(schedule([1.0] * most, p.num_micro_batches)), 3
        ),
        "pipeline_idle_by_flop_percent": round(idle_by_flop.values[0], 3),
        **ranking(results),
    }


def crossing_batch(results: Results, kind: str, devices: int) -> float:
    """The batch from which on a kind sends more for LeNet than data parallelism.

    A line through its two batches, however many micro-batches these are cut into, meets a level.
    """
    few, *_, many = results.series("sent", kind, net=LENET, devices=devices)
    level = results.series("sent", DATA, net=LENET, devices=devices)[0].values[0]
    slope = (many.values[0] - few.values[0]) / (many.x - few.x)
    return few.x + (level - few.values[0]) / slope


def ranking(results: Results) -> Metrics:
    """The closest pair of each two neighbours of the notes' ranking; over 1 where it holds."""
    per_byte = {name: results.series("FLOP per byte", name)[0].values[0] for name in chain(*RANKED)}
    inception, resnet, alexnet = ([per_byte[name] for name in names] for names in RANKED)
    return {
        INCEPTION_OVER_RESNET: round(min(inception) / max(resnet), 4),
        RESNET_OVER_ALEXNET: round(min(resnet) / max(alexnet), 4),
    }


def main() -> None:
    params = load(Params)
    run_benchmark(
        "parallelism",
        resolve(step_times.NUM_DEVICES, params.devices),
        params.bench.starts,
        step_times.measure,
        partial(summarise, params.parallelism),
        compared=("pipeline_idle_by_flop_percent", INCEPTION_OVER_RESNET, RESNET_OVER_ALEXNET),
        prepare=lambda: [params],
        once=partial(measure_once, params),
        jobs_at_once=2,
        about={"dataset": dataset_name()},
    )


if __name__ == "__main__":
    sys.exit(run(main))
