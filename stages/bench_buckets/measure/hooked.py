"""DistributedDataParallel whose buckets are summed when a caller wants them to be."""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
import torch.distributed as dist
from torch import Tensor, nn
from torch.futures import Future

from lab.parallel.replicas import forward_backward, overlapping, sgd
from stages.bench_buckets.measure.names import AT_LAST, AT_ONCE, COMPUTING

LR = 0.01
SETTLING_STEPS = 3  # after the first, buckets follow the order in which gradients are ready


@dataclass(frozen=True)
class Bucket:
    """A tensor of a bucket's size, and whose gradients the bucket holds, by name."""

    numbers: Tensor
    parameters: list[str]


class Bucketed:
    """A replica whose gradients are views of buckets of at most `bucket_mib` each.

    All processes of the group take each step.
    """

    def __init__(self, net: nn.Module, bucket_mib: float, device: torch.device) -> None:
        """Wrap the net, which steps change."""
        self._device, self._when = device, AT_ONCE
        self._waiting: list[tuple[Tensor, Future[Tensor]]] = []
        self._names = {id(p): name for name, p in net.named_parameters()}
        self._watched: list[Bucket] | None = None
        self._net = overlapping(net, device, bucket_mib=bucket_mib)
        self._net.register_comm_hook(None, self._full)

    def step(self, when: str, X: Tensor, y: Tensor) -> None:
        """Take a step of SGD with sums AT_ONCE, AT_LAST, or with none at all, if COMPUTING."""
        self._when = when
        forward_backward(self._net, X, y)
        sgd(self._net.parameters(), LR, len(X) * dist.get_world_size())

    def settle(self, X: Tensor, y: Tensor) -> list[Bucket]:
        """The buckets, in the order in which they are full, after the steps that settle them."""
        found: list[Bucket] = []
        for _ in range(SETTLING_STEPS):
            self._watched = found = []
            self.step(AT_LAST, X, y)
        self._watched = None
        return found

    def _full(self, state: None, bucket: dist.GradBucket) -> Future[Tensor]:
        """What DistributedDataParallel asks when a bucket is full: a future of its sum."""
        numbers = bucket.buffer()
        if self._when == AT_ONCE:
            summed = dist.all_reduce(numbers, async_op=True)
            assert summed is not None, "this process is of the group"  # noqa: S101
            at_once: Future[Tensor] = summed.get_future().then(lambda future: future.value()[0])
            return at_once
        later: Future[Tensor] = Future(
            devices=[self._device] if self._device.type == "cuda" else None
        )
        if self._when == COMPUTING:
            later.set_result(numbers)
            return later
        if self._watched is not None:
            named = [self._names[id(p)] for p in bucket.parameters()]
            self._watched.append(Bucket(numbers.clone(), named))
        self._waiting.append((numbers, later))
        if bucket.is_last():
            sum_each([waiting for waiting, _ in self._waiting])
            for waiting, promised in self._waiting:
                promised.set_result(waiting)
            self._waiting.clear()
        return later


def sum_each(tensors: Sequence[Tensor]) -> None:
    """Sum each tensor among the processes; all sums are asked for before any is waited for."""
    for work in [dist.all_reduce(tensor, async_op=True) for tensor in tensors]:
        if work is not None:
            work.wait()
