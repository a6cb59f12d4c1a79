"""A step over replicas by hand, and many small runs side by side: what several demos share."""

import itertools
from collections.abc import Callable, Iterable, Sequence
from typing import TypeVar

import torch
from torch import Tensor, nn
from tqdm import tqdm

from lab.data.images import LabelledImages
from lab.machine.devices import usable_cores
from lab.parallel.device_workers import thread_pool
from lab.parallel.replicas import forward_backward, sgd, split_batch, sum_gradients

CPU = torch.device("cpu")
Combine = Callable[[Sequence[nn.Module]], None]  # makes of the replicas' gradients what they use
T = TypeVar("T")


def step(
    nets: Sequence[nn.Module], X: Tensor, y: Tensor, lr: float, combine: Combine = sum_gradients
) -> None:
    """Take a step of SGD, each replica on its shard of the batch, one replica after the other."""
    for net, X_shard, y_shard in zip(nets, *split_batch(X, y, [CPU] * len(nets)), strict=True):
        forward_backward(net, X_shard, y_shard)
    combine(nets)
    for net in nets:
        sgd(net.parameters(), lr, len(X))


@torch.no_grad()
def accuracy_percent(net: nn.Module, test_set: LabelledImages) -> float:
    """The share of uint8 test images that a net labels correctly, in evaluation mode."""
    images, labels = test_set
    net.eval()
    right = sum(
        int((net(X).argmax(1) == y).sum())
        for X, y in zip(images.split(1000), labels.split(1000), strict=True)
    )
    return 100 * right / len(labels)


def side_by_side(
    name: str, run: Callable[[str, int], T], arms: Iterable[str], seeds: Iterable[int]
) -> dict[tuple[str, int], T]:
    """`run` of each arm and seed, as many at once as there are cores, one thread for each.

    So each run has the same bits as alone, and none waits for another.
    """
    jobs = list(itertools.product(arms, seeds))
    with thread_pool(usable_cores(), 1) as pool:
        waiting = [pool.submit(run, *job) for job in jobs]
        bar = tqdm(waiting, name, leave=False, disable=None)
        return {job: future.result() for job, future in zip(jobs, bar, strict=True)}
