"""What is timed among ranks: all-reduces of tensors, and training steps that wait for one.

All ranks take part in all variants; in one of fewer ranks the others have nothing to do, and wait.
"""

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import timedelta
from functools import cache, partial

import torch
import torch.distributed as dist
from torch import Tensor, nn

from lab.nets.models import MODELS, UInt8Input
from lab.parallel import local_ranks
from lab.parallel.allreduce.collectives import ALGORITHMS, PROBES, Ranks, in_one_bucket, per_tensor
from lab.parallel.process_group import all_reduce_max
from lab.parallel.replicas import forward_backward, grad_of, replicate, sgd, sum_gradients

NOTHING = "nothing"  # is summed; with a bucket, the tensors are still joined and taken apart
LR = 0.01


def data_parallel_step(
    net: nn.Module, X: Tensor, y: Tensor, all_reduce: Callable[[list[Tensor]], None], batch: int
) -> None:
    """Take a step of SGD: this rank's gradients, their sum over the ranks, the same update in all.

    `batch` is the number of images of all ranks.
    """
    forward_backward(net, X, y)
    params = list(net.parameters())
    all_reduce([grad_of(p) for p in params])
    sgd(params, LR, batch)


@dataclass(frozen=True)
class Variant:
    """What is timed: float32 tensors of `lengths`, summed by the first `world_size` ranks.

    With a `net` (of lab.nets.models) each rank first computes its gradients for `images` images of
    its own, and then updates its replica: a step of SGD. In between the gradients are summed, or
    other tensors if `gradients` is false: then the difference to NOTHING is what communication
    costs after computing.
    """

    algorithm: str  # of lab.parallel.allreduce.collectives' ALGORITHMS or PROBES, or NOTHING
    world_size: int
    lengths: tuple[int, ...]
    one_bucket: bool = False
    net: str = ""
    images: int = 0
    gradients: bool = True

    @property
    def num_bytes(self) -> int:
        """Bytes of all tensors."""
        return 4 * sum(self.lengths)


@dataclass(frozen=True)
class FirstCall:
    """What the ranks found of a variant's first call.

    Attributes:
        exact: whether the sum was; after a step, whether all ranks hold the same weights. A probe's
            result is not looked at.
        messages_sent: by the busiest rank; 0 for the library, whose messages nobody sees.
        bytes_sent: likewise.
    """

    exact: bool
    messages_sent: int
    bytes_sent: int


@cache
def gradient_lengths(net: str) -> tuple[int, ...]:
    """How many numbers each gradient of a net has."""
    return tuple(p.numel() for p in MODELS[net](torch.Generator().manual_seed(0)).parameters())


class LocalRank:
    """This rank's tensors and replicas, and what it does in each variant."""

    def __init__(self, device: torch.device, world_sizes: Iterable[int]) -> None:
        self.device, self._rank = device, dist.get_rank()
        self._tensors: dict[tuple[int, ...], list[Tensor]] = {}
        self._replicas: dict[tuple[str, bool], nn.Module] = {}
        self._ranks: dict[int, Ranks] = {}  # by the world sizes that this rank is one of
        timeout = timedelta(seconds=local_ranks.TIMEOUT_S)
        for n in sorted(set(world_sizes)):
            # every rank makes every group; by itself one would wait for a lost rank half an hour
            group = dist.new_group(list(range(n)), timeout=timeout)
            if isinstance(group, dist.ProcessGroup):  # which this rank is one of
                self._ranks[n] = Ranks(group)
                # NCCL needs all ranks the first time
                dist.all_reduce(torch.zeros(1, device=device), group=group)

    def timed(self, variant: Variant, in_one_process: bool = False) -> "TimedCall":
        """What is timed, with all that it needs at hand.

        With `in_one_process` the weights after its first step are also held against those of
        replicas that share a process, to rounding.
        """
        ranks = self._ranks.get(variant.world_size)
        if not ranks:
            return TimedCall(lambda: None, lambda: True, None)
        call = self._call_of(variant, ranks)
        return TimedCall(call, partial(self._is_right, variant, ranks, call, in_one_process), ranks)

    def _call_of(self, variant: Variant, ranks: Ranks) -> Callable[[], None]:
        if not variant.net:
            return partial(_sum, variant, ranks, self._tensors_of(variant))
        net, (X, y) = self._replica(variant), self._images(variant, self._rank)
        batch = variant.images * ranks.world_size
        if variant.gradients:
            return partial(data_parallel_step, net, X, y, partial(_sum, variant, ranks), batch)
        tensors = self._tensors_of(variant)
        return partial(
            data_parallel_step, net, X, y, lambda _: _sum(variant, ranks, tensors), batch
        )

    def _is_right(
        self, variant: Variant, ranks: Ranks, call: Callable[[], None], in_one_process: bool
    ) -> bool:
        """Call once, and look at the result."""
        if variant.algorithm not in ALGORITHMS:
            call()
            return True
        if variant.net and variant.gradients:
            alone = self._step_in_one_process(variant, ranks.world_size) if in_one_process else None
            call()
            weights = _weights(self._replica(variant))
            total = float(weights.double().sum())
            highest, lowest = all_reduce_max([total, -total], ranks.group)
            return highest == -lowest and (alone is None or is_step(weights, *alone))
        tensors, n = self._tensors_of(variant), ranks.world_size
        for tensor, own in zip(tensors, integers(variant, ranks.rank + 1), strict=True):
            tensor.copy_(own)
        call()
        expected = integers(variant, n * (n + 1) // 2)
        return all(torch.equal(t.cpu(), e) for t, e in zip(tensors, expected, strict=True))

    def _replica(self, variant: Variant) -> nn.Module:
        """The variant's replica, the same in every rank at first; variants that sum alike share it.

        Where gradients are not summed, replicas drift apart.
        """
        key = variant.net, variant.gradients and variant.algorithm != NOTHING
        if key not in self._replicas:
            net = UInt8Input(MODELS[variant.net](torch.Generator().manual_seed(0)))
            self._replicas[key] = net.to(self.device)
        return self._replicas[key]

    def _images(self, variant: Variant, rank: int) -> tuple[Tensor, Tensor]:
        """The images and labels of a rank: random, its own."""
        generator = torch.Generator().manual_seed(1 + rank)
        X = torch.randint(0, 256, (variant.images, 28, 28), dtype=torch.uint8, generator=generator)
        y = torch.randint(0, 10, (variant.images,), generator=generator)
        return X.to(self.device), y.to(self.device)

    def _step_in_one_process(self, variant: Variant, n: int) -> tuple[Tensor, Tensor]:
        """All weights before and after a step of replicas that share a process, as in 13.5."""
        net = self._replica(variant)
        nets = [replicate(net, self.device) for _ in range(n)]
        for rank, each in enumerate(nets):
            forward_backward(each, *self._images(variant, rank))
        sum_gradients(nets)
        sgd(nets[0].parameters(), LR, variant.images * n)
        return _weights(net), _weights(nets[0])

    def _tensors_of(self, variant: Variant) -> list[Tensor]:
        """The tensors that a variant sums; variants of the same lengths share them.

        Sums of sums soon leave the finite numbers; those are added as fast.
        """
        if variant.lengths not in self._tensors:
            self._tensors[variant.lengths] = [
                tensor.to(self.device) for tensor in integers(variant, self._rank + 1)
            ]
        return self._tensors[variant.lengths]


class TimedCall:
    """A variant's call in this rank. The first one, which no timer counts, is looked at."""

    first: FirstCall

    def __init__(
        self, call: Callable[[], None], is_right: Callable[[], bool], ranks: Ranks | None
    ) -> None:
        self._call, self._is_right, self._ranks = call, is_right, ranks
        self._called = False

    def __call__(self) -> None:
        if self._called:
            self._call()
            return
        self._called = True
        before = self._sent()
        right = self._is_right()
        sent = [a - b for a, b in zip(self._sent(), before, strict=True)]
        any_wrong, messages, num_bytes = all_reduce_max([int(not right), *sent])
        self.first = FirstCall(not any_wrong, int(messages), int(num_bytes))

    def _sent(self) -> tuple[int, int]:
        return (self._ranks.messages_sent, self._ranks.bytes_sent) if self._ranks else (0, 0)


def integers(variant: Variant, factor: int) -> list[Tensor]:
    """Multiples of `factor` as float32, so small that sums are exact in every order."""
    thousand = (factor * torch.arange(1, 1001)).float()
    return [thousand.repeat(math.ceil(length / 1000))[:length] for length in variant.lengths]


def is_step(weights: Tensor, before: Tensor, after: Tensor) -> bool:
    """Whether `weights` are those after a step, but for the rounding of weights and gradients."""
    rounding = 1e-6 * after.abs() + 1e-3 * (after - before).abs().max()
    return bool(((weights - after).abs() <= rounding).all())


def _weights(net: nn.Module) -> Tensor:
    """A copy of all parameters, one after the other."""
    return torch.cat([p.detach().flatten() for p in net.parameters()])


def _sum(variant: Variant, ranks: Ranks, tensors: Sequence[Tensor]) -> None:
    algorithm = {**ALGORITHMS, **PROBES, NOTHING: lambda tensor, ranks: None}[variant.algorithm]
    (in_one_bucket if variant.one_bucket else per_tensor)(tensors, algorithm, ranks)
