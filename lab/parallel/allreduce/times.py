"""Times of all-reduces among real processes, and of training steps that wait for one.

`time_among_ranks` starts a process for each device, several times. All ranks of an arm meet before
each round, whose time is that of the slowest of them; one start of the processes gives one sample,
the median of its rounds.
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
from lab.nets.models import MODELS, OnBytes
from lab.parallel import local_ranks
from lab.parallel.allreduce.collectives import ALGORITHMS, PROBES, Ranks, in_one_bucket, per_tensor
from lab.parallel.local_ranks import calls_lasting, most, run_on_ranks, seconds_per_call
from lab.parallel.replicas import forward_backward, grad_of, replicate, sgd, sum_gradients
from lab.results.stats import summarise
from lab.timing.bench import turns
from lab.timing.visits import starts_in_time

NOTHING = "nothing"  # is summed; with a bucket, the tensors are still joined and taken apart
LR = 0.01


@dataclass(frozen=True)
class Arm:
    """What is timed: float32 tensors of `lengths`, summed by the first `world_size` ranks.

    With a `net` (of lab.nets.models) each rank first computes its gradients for `images` images of
    its own, and then updates its replica: a step of SGD. In between the gradients are summed, or
    other tensors if `gradients` is false: then the difference to NOTHING is what communication
    costs after computing.

    An arm `in_a_row` is called so many times without a pause, once in each start, after all turns.
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
    """What the ranks found of an arm.

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


def time_among_ranks(arms: Sequence[Arm], params: BenchParams, devices: Devices) -> list[Timed]:
    """What each arm took, in their order; rank i computes on device i.

    In each of `params.starts` the processes start anew, and all arms take turns, those of fewer
    ranks, too: the other ranks wait. Sample i of every arm is of start i. There are fewer starts if
    there is a deadline.

    Raises:
        LabError: a rank died.
        ValueError: an arm for more ranks than there are devices.
    """
    world_size = max(arm.world_size for arm in arms)
    starts = [
        run_on_ranks(world_size, devices, _take_part, arms, params, start)
        for start in tqdm(
            starts_in_time(params.starts), "starts", total=params.starts, leave=False, disable=None
        )
    ]
    return [
        replace(
            of_arm[0],
            seconds=tuple(summarise(one.seconds).median for one in of_arm),
            halves=tuple(half for one in of_arm for half in one.halves),
            exact=all(one.exact for one in of_arm),
        )
        for of_arm in zip(*starts, strict=True)
    ]


class _Rank:
    """This rank among those of one world size, with the tensors and nets of their arms."""

    def __init__(self, ranks: Ranks, device: torch.device) -> None:
        self.ranks, self.device = ranks, device
        self._numbers: dict[tuple[int, ...], tuple[list[Tensor], list[Tensor]]] = {}
        self._replicas: dict[tuple[str, bool], nn.Module] = {}
        # NCCL needs all ranks the first time
        dist.all_reduce(torch.zeros(1, device=device), group=ranks.group)

    def first_call(self, arm: Arm, first_start: bool) -> tuple[bool, int, int]:
        """Call once, outside the clock: `exact`, `messages_sent` and `bytes_sent` of `Timed`."""
        before = self.ranks.messages_sent, self.ranks.bytes_sent
        sums = arm.algorithm in ALGORITHMS
        trains = sums and bool(arm.net) and arm.gradients
        alone = self._step_in_one_process(arm) if trains and first_start else None
        self._prepared(arm)()
        if trains:
            weights = _weights(self._replica(arm))
            total = float(weights.double().sum())
            highest, lowest = most([total, -total], self.ranks.group)
            wrong = highest != -lowest or not (alone is None or is_step(weights, *alone))
        elif sums:
            n = self.ranks.world_size
            expected = _integers(arm.lengths, n * (n + 1) // 2, self.device)
            wrong = not all(map(torch.equal, self._numbers[arm.lengths][1], expected))
        else:
            wrong = False
        sent = self.ranks.messages_sent - before[0], self.ranks.bytes_sent - before[1]
        any_wrong, messages, num_bytes = most([int(wrong), *sent], self.ranks.group)
        return not any_wrong, int(messages), int(num_bytes)

    def calls_for(self, arm: Arm, min_sample_s: float) -> int:
        """How many calls take `min_sample_s`, the same number in every rank."""
        return calls_lasting(self._prepared(arm), min_sample_s, self.device, self.ranks.group)

    def sample(self, arm: Arm, calls: int) -> float:
        """The slowest rank's seconds per call."""
        return seconds_per_call(self._prepared(arm), calls, self.device, self.ranks.group)

    def _prepared(self, arm: Arm) -> Callable[[], None]:
        """The call that is timed, with all that it needs at hand."""
        if not arm.net:
            return partial(_sum, arm, self._filled(arm), self.ranks)
        others = [] if arm.gradients else self._filled(arm)
        X, y = self._images(arm, self.ranks.rank)
        return partial(_step, arm, self._replica(arm), X, y, others, self.ranks)

    def _replica(self, arm: Arm) -> nn.Module:
        """The arm's replica, the same in every rank at first; arms that sum alike share it.

        Where gradients are not summed, replicas drift apart.
        """
        key = arm.net, arm.gradients and arm.algorithm != NOTHING
        if key not in self._replicas:
            net = OnBytes(MODELS[arm.net](torch.Generator().manual_seed(0)))
            self._replicas[key] = net.to(self.device)
        return self._replicas[key]

    def _images(self, arm: Arm, rank: int) -> tuple[Tensor, Tensor]:
        """The images and labels of a rank: random, its own."""
        generator = torch.Generator().manual_seed(1 + rank)
        X = torch.randint(0, 256, (arm.images, 28, 28), dtype=torch.uint8, generator=generator)
        y = torch.randint(0, 10, (arm.images,), generator=generator)
        return X.to(self.device), y.to(self.device)

    def _step_in_one_process(self, arm: Arm) -> tuple[Tensor, Tensor]:
        """All weights before and after a step of replicas that share a process, as in 13.5."""
        net, n = self._replica(arm), self.ranks.world_size
        nets = [replicate(net, self.device) for _ in range(n)]
        for rank, each in enumerate(nets):
            forward_backward(each, *self._images(arm, rank))
        sum_gradients(nets)
        sgd(nets[0].parameters(), LR, arm.images * n)
        return _weights(net), _weights(nets[0])

    def _filled(self, arm: Arm) -> list[Tensor]:
        """The arm's tensors with this rank's numbers; arms of the same lengths share them.

        Sums of sums soon leave the finite numbers; those are added as fast.
        """
        if arm.lengths not in self._numbers:
            numbers = _integers(arm.lengths, self.ranks.rank + 1, self.device)
            self._numbers[arm.lengths] = numbers, [torch.empty_like(tensor) for tensor in numbers]
        numbers, tensors = self._numbers[arm.lengths]
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


def _sum(arm: Arm, tensors: Sequence[Tensor], ranks: Ranks) -> None:
    algorithm = {**ALGORITHMS, **PROBES, NOTHING: lambda tensor, ranks: None}[arm.algorithm]
    (in_one_bucket if arm.one_bucket else per_tensor)(tensors, algorithm, ranks)


def _step(
    arm: Arm, net: nn.Module, X: Tensor, y: Tensor, others: list[Tensor], ranks: Ranks
) -> None:
    """Take a step of data-parallel SGD, summing the gradients or other tensors."""
    forward_backward(net, X, y)
    params = list(net.parameters())
    _sum(arm, [grad_of(p) for p in params] if arm.gradients else others, ranks)
    sgd(params, LR, arm.images * ranks.world_size)


def _take_part(
    device: torch.device, arms: Sequence[Arm], params: BenchParams, start: int
) -> list[Timed | None]:
    """Do this rank's share: what was found of each arm in its rounds, None where it has no part.

    The first rank has a part in every arm.
    """
    here: dict[int, _Rank] = {}
    rank, timeout = dist.get_rank(), timedelta(seconds=local_ranks.DISTRIBUTED.timeout_s)
    for n in sorted({arm.world_size for arm in arms}):
        # every rank makes every group; by itself one would wait for a lost rank for half an hour
        group = dist.new_group(list(range(n)), timeout=timeout)
        if rank < n:
            here[n] = _Rank(Ranks(group), device)
    mine = {i: here[arm.world_size] for i, arm in enumerate(arms) if arm.world_size in here}
    first = {i: who.first_call(arms[i], start == 0) for i, who in mine.items()}
    min_sample_s = params.min_sample_ms / 1e3
    calls = {i: arms[i].in_a_row or who.calls_for(arms[i], min_sample_s) for i, who in mine.items()}
    seconds: dict[int, list[float]] = {i: [] for i in mine}
    in_turns = [i for i, arm in enumerate(arms) if not arm.in_a_row]
    in_a_row = [i for i, arm in enumerate(arms) if arm.in_a_row]
    for i in [*turns(in_turns, params.rounds, start * params.rounds), *in_a_row]:
        if i in mine:
            seconds[i].append(mine[i].sample(arms[i], calls[i]))
    return [
        Timed(tuple(seconds[i]), (_halves(seconds[i]),), *first[i]) if i in mine else None
        for i in range(len(arms))
    ]


def _halves(seconds: Sequence[float]) -> tuple[float, float]:
    """The medians of every other round and of those in between; of one round that twice."""
    return summarise(seconds[::2]).median, summarise(seconds[1::2] or seconds).median
