"""DDP steps that sum a bucket of gradients once it is full, or after the backward pass.

DistributedDataParallel joins gradients into buckets, the last layer's first. When a bucket is full,
its all-reduce starts while the pass continues with earlier layers (Li et al., "PyTorch Distributed:
Experiences on Accelerating Data Parallel Training", VLDB 2020). A hook can delay the all-reduce: it
returns a future of the bucket's sum, and the pass ends when all futures are done.
"""

from statistics import median
from typing import NamedTuple

import torch._dynamo  # noqa: F401  (DDP would import it in each process, which takes a second)
import torch.distributed as dist
from torch import Tensor, nn
from torch.futures import Future
from torch.nn.parallel import DistributedDataParallel

from lab.parallel.collectives import Ranks
from lab.parallel.gradient_times import ready_times
from lab.parallel.replicas import cross_entropy, forward_backward, overlapping, sgd
from stages.scaling.measure.names import AT_LAST

LR = 0.01


class BucketStep:
    """A step of SGD that sums AT_ONCE or AT_LAST, in buckets of at most `bucket_mib` MiB."""

    def __init__(self, when: str, bucket_mib: float, net: nn.Module) -> None:
        self._when, self._bucket_mib, self._net = when, bucket_mib, net
        self._parallel: DistributedDataParallel | None = None

    def __call__(self, X: Tensor, y: Tensor, ranks: Ranks) -> None:
        """Take a step with all ranks; the first step wraps the net in DDP."""
        if self._parallel is None:
            self._parallel = overlapping(self._net, X.device, self._bucket_mib, ranks.group)
            if self._when == AT_LAST:
                self._parallel.register_comm_hook(Waiting(ranks.group, []), average_at_last)
        # DDP averages over the ranks; the book sums
        forward_backward(self._parallel, X, y, scale=ranks.world_size)
        sgd(self._net.parameters(), LR, len(X) * ranks.world_size)


class Waiting(NamedTuple):
    """The buckets of a group that wait for the last one, each with the future of its mean."""

    group: dist.ProcessGroup
    buckets: list[tuple[Tensor, Future[Tensor]]]


def average_at_last(waiting: Waiting, bucket: dist.GradBucket) -> Future[Tensor]:
    """Hold the bucket back until the last one is full, at the end of the pass; then sum all."""
    group, buckets = waiting
    numbers = bucket.buffer()
    promised: Future[Tensor] = Future(devices=[numbers.device] if numbers.is_cuda else None)
    buckets.append((numbers.div_(group.size()), promised))
    if bucket.is_last():
        sums = [dist.all_reduce(each, group=group, async_op=True) for each, _ in buckets]
        for work, (summed, promise) in zip(sums, buckets, strict=True):
            assert work is not None, "this process is of the group"  # noqa: S101
            work.wait()
            promise.set_result(summed)
        buckets.clear()
    return promised


def ready_ms(net: nn.Module, X: Tensor, y: Tensor, rounds: int) -> dict[str, float]:
    """Return milliseconds from the start of a backward pass to each gradient, by parameter."""
    _, *passes = ready_times(net, lambda: cross_entropy(net(X), y), 1 + rounds, X.device)
    return {name: median(each[name] for each in passes) for name in passes[0]}
