"""Where the time of a training step goes: each part closed by a reading of the clock on all
devices.
"""

from collections.abc import Iterator, Sequence
from concurrent.futures import Executor

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from lab.parallel.device_workers import run_each
from lab.parallel.replicas import sgd, split_batch, sum_gradients
from lab.timing.clock import read_clock

PARTS = ("load", "transfer", "forward", "backward", "all-reduce", "update")


def step_parts(
    batches: Iterator[tuple[Tensor, Tensor]],
    replicas: Sequence[nn.Module],
    devices: Sequence[torch.device],
    lr: float,
    pool: Executor,
) -> dict[str, float]:
    """Take one step of data-parallel SGD and return the seconds of each of PARTS.

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


def evaluation_s(net: nn.Module, X: Tensor) -> float:
    """Return the seconds per image of labelling X (n, 1, 28, 28) with a replica on X's device."""
    with torch.inference_mode():
        start = read_clock([X.device])
        net(X).argmax(1)
        return (read_clock([X.device]) - start) / len(X)
