"""Times of all-reduces among real processes, and of training steps that wait for one.

`time_among_ranks` starts a process for each device, several times. All ranks of a variant meet
before each round, whose time is that of the slowest of them; one start of the processes gives one
sample, the median of its rounds.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from functools import partial

import torch
import torch.distributed as dist
from torch import Tensor, nn
from tqdm import tqdm

from lab.core.shared_params import BenchParams
from lab.machine.devices import Devices
from lab.nets.models import MODELS, UInt8Input
from lab.parallel import local_ranks
from lab.parallel.allreduce.collectives import ALGORITHMS, PROBES, Ranks, in_one_bucket, per_tensor
from lab.parallel.local_ranks import all_reduce_max, calls_lasting, run_on_ranks, seconds_per_call
from lab.parallel.replicas import forward_backward, grad_of, replicate, sgd, sum_gradients
from lab.results.stats import summarise
from lab.timing.bench import balanced_turns
from lab.timing.deadline import until_deadline

NOTHING = "nothing"  # is summed; with a bucket, the tensors are still joined and taken apart
LR = 0.01


@dataclass(frozen=True)
class Variant:
    """What is timed: float32 tensors of `lengths`, summed by the first `world_size` ranks.

    With a `net` (of lab.nets.models) each rank first computes its gradients for `images` images of
    its own, and then updates its replica: a step of SGD. In between the gradients are summed, or
    other tensors if `gradients` is false: then the difference to NOTHING is what communication
    costs after computing.

    A variant `in_a_row` is called so many times without a pause, once in each start, after all
    turns.
    """

    algorithm: str  # of lab.parallel.allreduce.collectives' ALGORITHMS or PROBES, or NOTHING
    world_size: int
    lengths: tuple[int, ...]
    one_bucket: bool = False
    net: str = ""
    images: int = 0
    gradients: bool = True
    in_a_row: int = 0

    @property
    def num_bytes(self) -> int:
        """Bytes of all tensors."""
        return 4 * sum(self.lengths)


@dataclass(frozen=True)
class Timed:
    """What the ranks found of a variant.

    Attributes:
        seconds: per call, one number for each start.
        halves: for each start those of every other round, and of the others: how far one half of
            what was measured is from predicting the other half.
        exact: whether the sum was in every start; after a step, whether all ranks hold the same
            weights, and in the first start also those of replicas in one process, to rounding. A
            probe's result is not looked at.
        messages_sent: by the busiest rank in a call; 0 for the library, whose messages nobody sees.
        bytes_sent: likewise.
    """

    seconds: tuple[float, ...]
    halves: tuple[tuple[float, float], ...]
    exact: bool
    messages_sent: int
    bytes_sent: int


def gradient_lengths(net: str) -> tuple[int, ...]:
    """How many numbers each gradient of a net has."""
    return tuple(p.numel() for p in MODELS[net](torch.Generator().manual_seed(0)).parameters())


def time_among_ranks(
    variants: Sequence[Variant], params: BenchParams, devices: Devices
) -> list[Timed]:
    """What each variant took, in their order; rank i computes on device i.

    In each of `params.starts` the processes start anew, and all variants take turns, those of fewer
    ranks, too: the other ranks wait. Sample i of every variant is of start i. There are fewer
    starts if there is a deadline.

    Raises:
        LabError: a rank died.
        ValueError: a variant for more ranks than there are devices.
    """
    world_size = max(variant.world_size for variant in variants)
    starts = [
        run_on_ranks(world_size, devices, _take_part, variants, params, start)
        for start in tqdm(
            until_deadline(params.starts), "starts", total=params.starts, leave=False, disable=None
        )
    ]
    return [
        replace(
            of_variant[0],
            seconds=tuple(summarise(one.seconds).median for one in of_variant),
            halves=tuple(half for one in of_variant for half in one.halves),
            exact=all(one.exact for one in of_variant),
        )
        for of_variant in zip(*starts, strict=True)
    ]


class _Rank:
    """This rank among those of one world size, with the tensors and nets of their variants."""

    def __init__(self, ranks: Ranks, device: torch.device) -> None:
        self.ranks, self.device = ranks, device
        self._numbers: dict[tuple[int, ...], tuple[list[Tensor], list[Tensor]]] = {}
        self._replicas: dict[tuple[str, bool], nn.Module] = {}
        # NCCL needs all ranks the first time
        dist.all_reduce(torch.zeros(1, device=device), group=ranks.group)

    def first_call(self, variant: Variant, first_start: bool) -> tuple[bool, int, int]:
        """Call once, outside the clock: `exact`, `messages_sent` and `bytes_sent` of `Timed`."""
        before = self.ranks.messages_sent, self.ranks.bytes_sent
        sums = variant.algorithm in ALGORITHMS
        trains = sums and bool(variant.net) and variant.gradients
        alone = self._step_in_one_process(variant) if trains and first_start else None
        self._prepared(variant)()
        if trains:
            weights = _weights(self._replica(variant))
            total = float(weights.double().sum())
            highest, lowest = all_reduce_max([total, -total], self.ranks.group)
            wrong = highest != -lowest or not (alone is None or is_step(weights, *alone))
        elif sums:
            n = self.ranks.world_size
            expected = _integers(variant.lengths, n * (n + 1) // 2, self.device)
            wrong = not all(map(torch.equal, self._numbers[variant.lengths][1], expected))
        else:
            wrong = False
        sent = self.ranks.messages_sent - before[0], self.ranks.bytes_sent - before[1]
        any_wrong, messages, num_bytes = all_reduce_max([int(wrong), *sent], self.ranks.group)
        return not any_wrong, int(messages), int(num_bytes)

    def calls_for(self, variant: Variant, min_sample_s: float) -> int:
        """How many calls take `min_sample_s`, the same number in every rank."""
        return calls_lasting(self._prepared(variant), min_sample_s, self.device, self.ranks.group)

    def sample(self, variant: Variant, calls: int) -> float:
        """The slowest rank's seconds per call."""
        return seconds_per_call(self._prepared(variant), calls, self.device, self.ranks.group)

    def _prepared(self, variant: Variant) -> Callable[[], None]:
        """The call that is timed, with all that it needs at hand."""
        if not variant.net:
            return partial(_sum, variant, self._filled(variant), self.ranks)
        others = [] if variant.gradients else self._filled(variant)
        X, y = self._images(variant, self.ranks.rank)
        return partial(_step, variant, self._replica(variant), X, y, others, self.ranks)

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

    def _step_in_one_process(self, variant: Variant) -> tuple[Tensor, Tensor]:
        """All weights before and after a step of replicas that share a process, as in 13.5."""
        net, n = self._replica(variant), self.ranks.world_size
        nets = [replicate(net, self.device) for _ in range(n)]
        for rank, each in enumerate(nets):
            forward_backward(each, *self._images(variant, rank))
        sum_gradients(nets)
        sgd(nets[0].parameters(), LR, variant.images * n)
        return _weights(net), _weights(nets[0])

    def _filled(self, variant: Variant) -> list[Tensor]:
        """The variant's tensors with this rank's numbers; variants of the same lengths share them.

        Sums of sums soon leave the finite numbers; those are added as fast.
        """
        if variant.lengths not in self._numbers:
            numbers = _integers(variant.lengths, self.ranks.rank + 1, self.device)
            self._numbers[variant.lengths] = (
                numbers,
                [torch.empty_like(tensor) for tensor in numbers],
            )
        numbers, tensors = self._numbers[variant.lengths]
        for tensor, values in zip(tensors, numbers, strict=True):
            tensor.copy_(values)
        return tensors


def _weights(net: nn.Module) -> Tensor:
    """A copy of all parameters, one after the other."""
    return torch.cat([p.detach().flatten() for p in net.parameters()])


def is_step(weights: Tensor, before: Tensor, after: Tensor) -> bool:
    """Whether `weights` are those after a step, but for the rounding of weights and gradients."""
    rounding = 1e-6 * after.abs() + 1e-3 * (after - before).abs().max()
    return bool(((weights - after).abs() <= rounding).all())


def _integers(lengths: Sequence[int], factor: int, device: torch.device) -> list[Tensor]:
    """Multiples of `factor` as float32, so small that sums are exact in every order."""
    return [
        (factor * (torch.arange(length, device=device) % 1000 + 1)).float() for length in lengths
    ]


def _sum(variant: Variant, tensors: Sequence[Tensor], ranks: Ranks) -> None:
    algorithm = {**ALGORITHMS, **PROBES, NOTHING: lambda tensor, ranks: None}[variant.algorithm]
    (in_one_bucket if variant.one_bucket else per_tensor)(tensors, algorithm, ranks)


def _step(
    variant: Variant, net: nn.Module, X: Tensor, y: Tensor, others: list[Tensor], ranks: Ranks
) -> None:
    """Take a step of data-parallel SGD, summing the gradients or other tensors."""
    forward_backward(net, X, y)
    params = list(net.parameters())
    _sum(variant, [grad_of(p) for p in params] if variant.gradients else others, ranks)
    sgd(params, LR, variant.images * ranks.world_size)


def _take_part(
    device: torch.device, variants: Sequence[Variant], params: BenchParams, start: int
) -> list[Timed | None]:
    """Do this rank's share: what was found of each variant in its rounds, None where it has no
    part.

    The first rank has a part in every variant.
    """
    here: dict[int, _Rank] = {}
    rank, timeout = dist.get_rank(), timedelta(seconds=local_ranks.DISTRIBUTED.timeout_s)
    for n in sorted({variant.world_size for variant in variants}):
        # every rank makes every group; by itself one would wait for a lost rank for half an hour
        group = dist.new_group(list(range(n)), timeout=timeout)
        if rank < n:
            here[n] = _Rank(Ranks(group), device)
    mine = {
        i: here[variant.world_size]
        for i, variant in enumerate(variants)
        if variant.world_size in here
    }
    first = {i: who.first_call(variants[i], start == 0) for i, who in mine.items()}
    min_sample_s = params.min_sample_ms / 1e3
    calls = {
        i: variants[i].in_a_row or who.calls_for(variants[i], min_sample_s)
        for i, who in mine.items()
    }
    seconds: dict[int, list[float]] = {i: [] for i in mine}
    in_turns = [i for i, variant in enumerate(variants) if not variant.in_a_row]
    in_a_row = [i for i, variant in enumerate(variants) if variant.in_a_row]
    for i in [*balanced_turns(in_turns, params.rounds, start * params.rounds), *in_a_row]:
        if i in mine:
            seconds[i].append(mine[i].sample(variants[i], calls[i]))
    return [
        Timed(tuple(seconds[i]), (_halves(seconds[i]),), *first[i]) if i in mine else None
        for i in range(len(variants))
    ]


def _halves(seconds: Sequence[float]) -> tuple[float, float]:
    """The medians of every other round and of those in between; of one round that twice."""
    return summarise(seconds[::2]).median, summarise(seconds[1::2] or seconds).median
