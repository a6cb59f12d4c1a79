"""Where the time of a training step goes: after each part, the clock is read on all devices."""

from collections.abc import Iterator, Sequence
from concurrent.futures import Executor

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from lab.data.datasets import FASHION_COUNTS
from lab.data.images import LabelledImages, to_float
from lab.machine.devices import Devices
from lab.nets.models import MODELS
from lab.parallel.device_workers import run_each, thread_pool
from lab.parallel.replicas import replicate, sgd, split_batch, sum_gradients
from lab.results.measurements import Measurement
from lab.timing.bench import in_unit
from lab.timing.clock import read_clock
from stages.bench_input.feeds import Feed, feeds
from stages.bench_input.names import BOOK, EVALUATION, LENET, PARTS, RESIDENT, RESNET, part_of, step
from stages.bench_input.params import Params

LR = 0.01
WARM_UP = 2  # steps


def measure_steps(params: Params, resident: LabelledImages, devices: Devices) -> list[Measurement]:
    """Time the parts of both networks' steps with each feed, and their evaluation."""
    p, measured = params.bench_input, []
    with thread_pool(len(devices.devices), devices.threads) as pool:
        for title, model, batch_size in (
            (LENET, "lenet", p.batch_size),
            (RESNET, "resnet18", p.resnet_batch_size),
        ):
            net = MODELS[model](torch.Generator().manual_seed(params.seed))
            replicas = [replicate(net, device) for device in devices.devices]
            arms = feeds(FASHION_COUNTS["train"], batch_size, resident)
            for arm in (BOOK, RESIDENT):
                batches = _endless(arms[arm])
                steps = [
                    step_parts(batches, replicas, devices.devices, LR, pool)
                    for _ in range(WARM_UP + p.steps)
                ][WARM_UP:]
                seconds = {part_of(title, part): tuple(s[part] for s in steps) for part in PARTS}
                measured += in_unit(step(arm), batch_size, seconds, "ms", devices)
            X = to_float(resident[0][:batch_size])
            per_step = _evaluation_per_step(replicas, X, p.steps)
            measured += in_unit(EVALUATION, batch_size, {title: per_step}, "ms", devices)
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
    """Take one step of data-parallel SGD; the seconds of each of PARTS.

    Nothing overlaps: each part waits for the one before it on every device, so the sum is an upper
    bound of what a step takes in training.
    """
    times = [read_clock(devices)]

    def lap() -> None:
        times.append(read_clock(devices))

    X, y = next(batches)
    lap()
    X_shards, y_shards = split_batch(X, y, devices)
    lap()
    logits = run_each(pool, lambda net, X: net(X), replicas, X_shards)
    lap()
    run_each(pool, lambda z, y: F.cross_entropy(z, y, reduction="sum").backward(), logits, y_shards)
    lap()
    sum_gradients(replicas)
    lap()
    for net in replicas:
        sgd(net.parameters(), lr, len(X))
    lap()
    return {
        part: after - before for part, before, after in zip(PARTS, times, times[1:], strict=False)
    }


def _evaluation_per_step(replicas: Sequence[nn.Module], X: Tensor, count: int) -> tuple[float, ...]:
    """Seconds of evaluating an epoch's test images on all replicas, divided by its steps."""
    net = replicas[0].eval()
    per_image = [evaluation_s(net, X) for _ in range(WARM_UP + count)][WARM_UP:]
    steps = -(-FASHION_COUNTS["train"] // len(X))
    images = FASHION_COUNTS["t10k"] / steps / len(replicas)
    return tuple(images * t for t in per_image)


def evaluation_s(net: nn.Module, X: Tensor) -> float:
    """Seconds per image of labelling X (n, 1, 28, 28) with a net on X's device."""
    with torch.inference_mode():
        start = read_clock([X.device])
        net(X).argmax(1)
        return (read_clock([X.device]) - start) / len(X)
