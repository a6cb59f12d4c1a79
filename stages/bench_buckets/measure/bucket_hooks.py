"""When a bucket of gradients is summed: as soon as it is full, after the backward pass, or never.

DistributedDataParallel joins gradients into buckets, the last layer's first, and calls a hook when
a bucket is full. The hook promises the bucket's sum; the backward pass ends when it has all sums.
"""

from collections.abc import Sequence

import torch.distributed as dist
from torch import Tensor
from torch.futures import Future


def sum_at_once(bucket: dist.GradBucket) -> Future[Tensor]:
    """Begin the bucket's sum, while the pass goes on to the layers before."""
    work = dist.all_reduce(bucket.buffer(), async_op=True)
    assert work is not None, "this process is of the group"  # noqa: S101
    summed: Future[Tensor] = work.get_future().then(lambda future: future.value()[0])
    return summed


def sum_at_last(
    bucket: dist.GradBucket, waiting: list[tuple[Tensor, Future[Tensor]]]
) -> Future[Tensor]:
    """Let the bucket wait for the last one, which is full when the pass is over; then sum all."""
    waiting.append((bucket.buffer(), _promise(bucket)))
    _, promised = waiting[-1]
    if bucket.is_last():
        sum_each([numbers for numbers, _ in waiting])
        for numbers, promise in waiting:
            promise.set_result(numbers)
        waiting.clear()
    return promised


def sum_nothing(bucket: dist.GradBucket) -> Future[Tensor]:
    """Leave the bucket as it is: each process keeps its own gradients."""
    promise = _promise(bucket)
    promise.set_result(bucket.buffer())
    return promise


def sum_each(tensors: Sequence[Tensor]) -> None:
    """Sum each tensor among the processes; all sums are asked for before any is waited for."""
    for work in [dist.all_reduce(tensor, async_op=True) for tensor in tensors]:
        if work is not None:
            work.wait()


def _promise(bucket: dist.GradBucket) -> Future[Tensor]:
    device = bucket.buffer().device
    return Future(devices=[device] if device.type == "cuda" else None)
