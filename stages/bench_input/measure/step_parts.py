"""Where the time of a training step goes: after each part, the clock is read on all devices."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Executor
from functools import partial

import torch
import torch.nn.functional as F
from torch import nn

from lab.data.datasets import FASHION_COUNTS
from lab.data.images import LabelledImages
from lab.machine.devices import Devices
from lab.nets.models import MODELS
from lab.parallel.replicas import replicate, sgd, split_batch, sum_gradients
from lab.parallel.workers import parallel_map, thread_pool
from lab.results.measurements import Measurement, again
from lab.timing.bench import balanced_turns, in_unit
from lab.timing.clock import read_clock
from stages.bench_input.measure.feeds import Feed, feeds
from stages.bench_input.measure.names import (
    FEEDS,
    LENET,
    PARTS,
    PREPARATION,
    RESIDENT,
    RESNET,
    WHOLE,
    part_of,
    step,
)
from stages.bench_input.measure.params import Params
from stages.bench_input.measure.preparation import prepare, stored_images

LR = 0.01
WARM_UP = 2  # steps of a turn that do not count: the last variant's workers have settled after them
Seconds = Mapping[str, float]  # of what is timed together, by name


def measure_steps(
    params: Params, resident: LabelledImages, devices: Devices, start: int
) -> list[Measurement]:
    """Time the parts of both networks' steps, and the preparation of batches.

    LeNet's variants take turns; what feeds one but not the other is then all that they differ in.
    """
    p = params.bench_input
    with thread_pool(len(devices.devices), devices.threads) as pool:
        lenets = _replicas(params, "lenet", devices)
        variants = _steps(LENET, lenets, p.batch_size, resident, devices, pool)
        variants[again(step(RESIDENT))] = variants[step(RESIDENT)]
        variants[PREPARATION] = partial(prepare, stored_images(), p.batch_size)
        measured = _take_turns(variants, p.steps, p.batch_size, devices, start)
        resnets = _replicas(params, "resnet18", devices)
        variants = _steps(RESNET, resnets, p.resnet_batch_size, resident, devices, pool)
        return measured + _take_turns(variants, p.resnet_steps, p.resnet_batch_size, devices, start)


def _replicas(params: Params, model: str, devices: Devices) -> list[nn.Module]:
    net = MODELS[model](torch.Generator().manual_seed(params.seed))
    return [replicate(net, device) for device in devices.devices]


def _steps(
    net: str,
    replicas: Sequence[nn.Module],
    batch_size: int,
    resident: LabelledImages,
    devices: Devices,
    pool: Executor,
) -> dict[str, Callable[[], Seconds]]:
    """A network's variants: what times a step from each of its feeds."""
    fed = feeds(FASHION_COUNTS["train"], batch_size, resident)

    def variant(batches: Iterator[LabelledImages]) -> Seconds:
        parts = step_parts(batches, replicas, devices.devices, LR, pool)
        return {part_of(net, part): s for part, s in parts.items()}

    return {step(feed): partial(variant, _endless(fed[feed])) for feed in FEEDS[net]}


def _take_turns(
    variants: Mapping[str, Callable[[], Seconds]],
    count: int,
    batch_size: int,
    devices: Devices,
    start: int,
) -> list[Measurement]:
    """Each variant's times, `count` in a row after some that do not count."""
    measured = []
    for name in balanced_turns(list(variants), 1, start):
        taken = [variants[name]() for _ in range(WARM_UP + count)][WARM_UP:]
        seconds = {part: tuple(each[part] for each in taken) for part in taken[0]}
        experiment = name.removesuffix(again(""))
        if name != experiment:  # a noise control, of the whole only: parts are too short for one
            whole = part_of(LENET, WHOLE)
            seconds = {again(whole): seconds[whole]}
        measured += in_unit(experiment, batch_size, seconds, "ms", devices)
    return measured


def _endless(feed: Feed) -> Iterator[LabelledImages]:
    while True:
        yield from feed()


def step_parts(
    batches: Iterator[LabelledImages],
    replicas: Sequence[nn.Module],
    devices: Sequence[torch.device],
    lr: float,
    pool: Executor,
) -> dict[str, float]:
    """Take one step of data-parallel SGD; the seconds of each of PARTS, and of the whole.

    Nothing overlaps: each part waits for the one before it on every device, so the whole is an
    upper bound of what a step takes in training.
    """
    times = [read_clock(devices)]

    def lap() -> None:
        times.append(read_clock(devices))

    X, y = next(batches)
    lap()
    X_shards, y_shards = split_batch(X, y, devices)
    lap()
    logits = parallel_map(pool, lambda net, X: net(X), replicas, X_shards)
    lap()
    parallel_map(
        pool, lambda z, y: F.cross_entropy(z, y, reduction="sum").backward(), logits, y_shards
    )
    lap()
    sum_gradients(replicas)
    lap()
    for net in replicas:
        sgd(net.parameters(), lr, len(X))
    lap()
    parts = {
        part: after - before for part, before, after in zip(PARTS, times, times[1:], strict=False)
    }
    return parts | {WHOLE: times[-1] - times[0]}
