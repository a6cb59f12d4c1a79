"""The parts of a training step, each timed by reading the clock on all devices after it."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Executor
from functools import partial

import torch
import torch.nn.functional as F
from torch import nn

from lab.data.images import LabelledImages
from lab.data.loaders import book_images
from lab.machine.devices import Devices
from lab.nets.models import MODELS
from lab.parallel.replicas import replicate, sgd, split_batch, sum_gradients
from lab.parallel.workers import parallel_map, thread_pool
from lab.results.measurements import Measurement, again
from lab.timing.bench import balanced_turns, in_unit
from lab.timing.clock import time_parts
from stages.bench_input.measure.feeds import Feed, feeds, prepare
from stages.bench_input.measure.names import FEEDS, RESIDENT, WHOLE
from stages.bench_input.measure.params import Params

LR = 0.01
# a turn's steps that do not count: after LeNet's two, the previous variant's workers have settled
WARM_UP = {"lenet": 2, "resnet18": 1}
Timed = Callable[[], Mapping[str, float]]  # returns the seconds of parts by name
Taken = dict[str, dict[str, tuple[float, ...]]]  # by variant and part, step by step


def step_in_parts(
    batches: Iterator[LabelledImages],
    replicas: Sequence[nn.Module],
    devices: Sequence[torch.device],
    pool: Executor,
) -> Iterator[str]:
    """Take one step of data-parallel SGD; yield the name of each part (PARTS) when it is done."""
    X, y = next(batches)
    yield "load"
    X_shards, y_shards = split_batch(X, y, devices)
    yield "transfer"
    logits = parallel_map(pool, lambda net, X: net(X), replicas, X_shards)
    yield "forward"
    parallel_map(
        pool, lambda z, y: F.cross_entropy(z, y, reduction="sum").backward(), logits, y_shards
    )
    yield "backward"
    sum_gradients(replicas)
    yield "all-reduce"
    for net in replicas:
        sgd(net.parameters(), LR, len(X))
    yield "update"


def measure_steps(
    params: Params, resident: LabelledImages, devices: Devices, process: int
) -> list[Measurement]:
    """Time the parts of both networks' steps, and the preparation of batches.

    LeNet's variants alternate and differ only in their feed.
    """
    p = params.bench_input
    with thread_pool(len(devices.devices), devices.threads) as pool:
        steps = partial(_steps, params.seed, resident=resident, devices=devices, pool=pool)
        variants = steps("lenet", p.batch_size)
        variants[again(RESIDENT)] = variants[RESIDENT]
        variants["preparation"] = partial(prepare, book_images(), p.batch_size)
        lenet = _take_turns(variants, WARM_UP["lenet"], p.steps, process)
        prepared = lenet.pop("preparation")
        resnet = _take_turns(
            steps("resnet18", p.resnet_batch_size), WARM_UP["resnet18"], p.resnet_steps, process
        )
    return [
        *_measured("lenet", p.batch_size, lenet, devices),
        *in_unit("preparation", p.batch_size, prepared, "ms", devices),
        *_measured("resnet18", p.resnet_batch_size, resnet, devices),
    ]


def _steps(
    seed: int, net: str, batch_size: int, resident: LabelledImages, devices: Devices, pool: Executor
) -> dict[str, Timed]:
    """Return, for each feed of a network, a function that times a step."""
    made = MODELS[net](torch.Generator().manual_seed(seed))
    replicas = [replicate(made, device) for device in devices.devices]
    fed = feeds(len(resident[1]), batch_size, resident)

    def timed(batches: Iterator[LabelledImages]) -> Mapping[str, float]:
        parts = step_in_parts(batches, replicas, devices.devices, pool)
        seconds = time_parts(parts, devices.devices)
        return seconds | {WHOLE: sum(seconds.values())}

    return {feed: partial(timed, _endless(fed[feed])) for feed in FEEDS[net]}


def _endless(feed: Feed) -> Iterator[LabelledImages]:
    while True:
        yield from feed()


def _take_turns(variants: Mapping[str, Timed], warm_up: int, count: int, process: int) -> Taken:
    """Time each variant `count` times in a row, after a warm-up that does not count."""
    taken = {}
    for name in balanced_turns(list(variants), 1, process):
        found = [variants[name]() for _ in range(warm_up + count)][warm_up:]
        taken[name] = {part: tuple(each[part] for each in found) for part in found[0]}
    return taken


def _measured(net: str, batch_size: int, taken: Taken, devices: Devices) -> list[Measurement]:
    """Return a network's rows in ms; the noise control has no parts, which are too short."""
    return [
        Measurement(
            "step",
            feed,
            batch_size,
            tuple(1e3 * each for each in seconds),
            "ms",
            devices.kind,
            devices.threads,
            columns={"net": net, "part": part},
        )
        for feed, parts in taken.items()
        for part, seconds in parts.items()
        if part == WHOLE or feed != again(RESIDENT)
    ]
