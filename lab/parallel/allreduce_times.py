"""Times of all-reduces among real processes, and of training steps that wait for one.

`time_among_ranks` starts a process for each device: `python -m lab.parallel.allreduce_times ARMS`
does its share of the arms in a JSON file, and rank 0 leaves beside it what the ranks found. All
ranks of an arm meet before each sample, and a sample is the slowest rank's time.
"""

import gc
import logging
import math
import os
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any

import torch
import torch.distributed as dist
from torch import Tensor

from lab.core.exit_codes import run
from lab.core.files import read_json, write_json
from lab.core.shared_params import LOOPBACK, DistributedParams
from lab.machine.allocator import keep_memory
from lab.machine.devices import Devices
from lab.nets.models import MODELS, OnBytes
from lab.parallel.collectives import ALGORITHMS, PROBES, Ranks, in_one_bucket, per_tensor
from lab.parallel.cost_model import STAR
from lab.parallel.launch import launch, own_rank, process_group
from lab.parallel.replicas import forward_backward, grad_of, sgd
from lab.results.measurements import Measurement
from lab.timing.bench import control_measurements, turns
from lab.timing.clock import read_clock

DISTRIBUTED = DistributedParams(nnodes=1, rdzv_endpoint=f"{LOOPBACK}:0", timeout_s=600)
FOUND_FILE = "found.json"
NOTHING = "nothing"  # is summed; with a bucket, the tensors are still joined and taken apart
CONTROL_LENGTH = 1024
LR = 0.01
# of a sample: each multiplies the numbers by the ranks, which must not leave float32
MOST_CALLS = 20


@dataclass(frozen=True)
class Arm:
    """What is timed: float32 tensors of `lengths`, summed by the first `world_size` ranks.

    With a `net` (of lab.nets.models) each rank first computes its gradients for `images` images of
    its own, and then updates its replica: a step of SGD. In between the gradients are summed, or
    other tensors if `gradients` is false: then the difference to NOTHING is what communication
    costs after computing.
    """

    algorithm: str  # of lab.parallel.collectives' ALGORITHMS or PROBES, or NOTHING
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
class Timed:
    """What the ranks found of an arm.

    Attributes:
        seconds: per call, of the slowest rank in each round.
        exact: whether the sum was; after a step, whether all ranks hold the same weights. A probe's
            result is not looked at.
        messages_sent: by the busiest rank in a call; 0 for the library, whose messages nobody sees.
        bytes_sent: likewise.
    """

    seconds: tuple[float, ...]
    exact: bool
    messages_sent: int
    bytes_sent: int


def gradient_lengths(net: str) -> tuple[int, ...]:
    """How many numbers each gradient of a net has."""
    return tuple(p.numel() for p in MODELS[net](torch.Generator().manual_seed(0)).parameters())


def time_among_ranks(
    arms: Sequence[Arm], rounds: int, min_sample_ms: float, devices: Devices
) -> list[Timed]:
    """What each arm took, in their order; rank i computes on device i.

    Arms of as many ranks take turns, forwards and backwards, `rounds` times; then those of more
    ranks do.

    Raises:
        DistributedError: a rank died or fell silent.
        ValueError: an arm for more ranks than there are devices.
    """
    world_size = max(arm.world_size for arm in arms)
    if world_size > len(devices.devices):
        raise ValueError(
            f"expected at most {len(devices.devices)} ranks, one for each device, got {world_size}"
        )
    with tempfile.TemporaryDirectory() as folder, _environment_kept():
        request = Path(folder) / "arms.json"
        write_json(
            request,
            {
                "arms": [asdict(arm) for arm in arms],
                "rounds": rounds,
                "min_sample_s": min_sample_ms / 1e3,
                "kind": devices.kind,
                "devices": [str(device) for device in devices.devices],
                "threads": devices.threads,
            },
        )
        launch(
            "lab.parallel.allreduce_times",
            str(request),
            world_size,
            DISTRIBUTED,
            threads=devices.threads,
        )
        found = read_json(request.with_name(FOUND_FILE))["arms"]
    return [Timed(**{**one, "seconds": tuple(one["seconds"])}) for one in found]


def controls(world_size: int, aa_runs: int) -> list[Arm]:
    """Pairs of one and the same arm, to be timed among others; see `noise_control`."""
    return 2 * aa_runs * [Arm(STAR, world_size, (CONTROL_LENGTH,))]


def noise_control(found: Sequence[Timed], devices: Devices) -> list[Measurement]:
    """The noise control's rows, from what the arms of `controls` took."""
    pairs = zip(found[::2], found[1::2], strict=True)
    return control_measurements([(one.seconds, again.seconds) for one, again in pairs], devices)


@contextmanager
def _environment_kept() -> Iterator[None]:
    """Undo what `launch` sets for its ranks in this process's environment and logging."""
    before = dict(os.environ)
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)
        logging.disable(logging.NOTSET)


class _Rank:
    """This rank among those of one world size, with the tensors and nets of their arms."""

    def __init__(self, ranks: Ranks, device: torch.device) -> None:
        self.ranks, self.device = ranks, device
        self._numbers: dict[tuple[int, ...], tuple[list[Tensor], list[Tensor]]] = {}
        self._training: dict[tuple[str, int], tuple[OnBytes, Tensor, Tensor]] = {}
        # NCCL needs all ranks the first time
        dist.all_reduce(torch.zeros(1, device=device), group=ranks.group)

    def first_call(self, arm: Arm) -> tuple[bool, int, int]:
        """Call once, outside the clock: `exact`, `messages_sent` and `bytes_sent` of `Timed`."""
        before = self.ranks.messages_sent, self.ranks.bytes_sent
        call, n = self._prepared(arm), self.ranks.world_size
        call()
        if arm.net and arm.gradients:
            weights = sum(
                float(p.detach().double().sum())
                for p in self._training[arm.net, arm.images][0].parameters()
            )
            highest, lowest = self._most(weights, -weights)
            wrong = arm.algorithm in ALGORITHMS and highest != -lowest
        else:
            expected = _integers(arm.lengths, n * (n + 1) // 2, self.device)
            tensors = self._numbers[arm.lengths][1]
            wrong = arm.algorithm in ALGORITHMS and not all(map(torch.equal, tensors, expected))
        sent = self.ranks.messages_sent - before[0], self.ranks.bytes_sent - before[1]
        any_wrong, messages, num_bytes = self._most(int(wrong), *sent)
        return not any_wrong, int(messages), int(num_bytes)

    def sample(self, arm: Arm, calls: int) -> float:
        """The slowest rank's seconds per call."""
        call = self._prepared(arm)
        self._most(0)  # all ranks are here
        start = read_clock([self.device])
        for _ in range(calls):
            call()
        [slowest] = self._most(read_clock([self.device]) - start)
        return slowest / calls

    def _prepared(self, arm: Arm) -> Callable[[], None]:
        """The call that is timed, with all that it needs at hand."""
        if arm.net:
            others = [] if arm.gradients else self._filled(arm)
            return partial(_step, arm, *self._trained(arm), others, self.ranks)
        return partial(_sum, arm, self._filled(arm), self.ranks)

    def _trained(self, arm: Arm) -> tuple[OnBytes, Tensor, Tensor]:
        """The arm's replica, the same in every rank, and this rank's images and labels."""
        if (arm.net, arm.images) not in self._training:
            net = OnBytes(MODELS[arm.net](torch.Generator().manual_seed(0))).to(self.device)
            generator = torch.Generator().manual_seed(1 + self.ranks.rank)
            X = torch.randint(0, 256, (arm.images, 28, 28), dtype=torch.uint8, generator=generator)
            y = torch.randint(0, 10, (arm.images,), generator=generator)
            self._training[arm.net, arm.images] = net, X.to(self.device), y.to(self.device)
        return self._training[arm.net, arm.images]

    def _filled(self, arm: Arm) -> list[Tensor]:
        """The arm's tensors with this rank's numbers; arms of the same lengths share them."""
        if arm.lengths not in self._numbers:
            numbers = _integers(arm.lengths, self.ranks.rank + 1, self.device)
            self._numbers[arm.lengths] = numbers, [torch.empty_like(tensor) for tensor in numbers]
        numbers, tensors = self._numbers[arm.lengths]
        for tensor, values in zip(tensors, numbers, strict=True):
            tensor.copy_(values)
        return tensors

    def _most(self, *mine: float) -> list[float]:
        """The largest of all ranks' numbers; it also makes the ranks wait for each other."""
        values = torch.tensor(mine, dtype=torch.float64)
        dist.all_reduce(values, dist.ReduceOp.MAX, self.ranks.group)
        most: list[float] = values.tolist()
        return most


def _integers(lengths: Sequence[int], factor: int, device: torch.device) -> list[Tensor]:
    """Multiples of `factor` as float32, so small that sums are exact in every order."""
    return [
        (factor * (torch.arange(length, device=device) % 1000 + 1)).float() for length in lengths
    ]


def _sum(arm: Arm, tensors: Sequence[Tensor], ranks: Ranks) -> None:
    algorithm = {**ALGORITHMS, **PROBES, NOTHING: lambda tensor, ranks: None}[arm.algorithm]
    (in_one_bucket if arm.one_bucket else per_tensor)(tensors, algorithm, ranks)


def _step(arm: Arm, net: OnBytes, X: Tensor, y: Tensor, others: list[Tensor], ranks: Ranks) -> None:
    """Take a step of data-parallel SGD, summing the gradients or other tensors."""
    forward_backward(net, X, y)
    params = list(net.parameters())
    _sum(arm, [grad_of(p) for p in params] if arm.gradients else others, ranks)
    sgd(params, LR, arm.images * ranks.world_size)


def _take_turns(
    arms: Sequence[Arm], rank: _Rank, rounds: int, min_sample_s: float
) -> list[dict[str, Any]]:
    """Each arm's `Timed` as a dict, the same in every rank."""
    first = [rank.first_call(arm) for arm in arms]
    calls = [min(MOST_CALLS, math.ceil(min_sample_s / rank.sample(arm, 1))) for arm in arms]
    seconds: list[list[float]] = [[] for _ in arms]
    for i in turns(range(len(arms)), rounds):
        seconds[i].append(rank.sample(arms[i], calls[i]))
    return [
        asdict(Timed(tuple(samples), exact, messages, num_bytes))
        for samples, (exact, messages, num_bytes) in zip(seconds, first, strict=True)
    ]


def _take_part(request: Mapping[str, Any], rank: int) -> list[dict[str, Any] | None]:
    """Do this rank's share: what was found of each arm, None of those without this rank."""
    arms = [Arm(**{**arm, "lengths": tuple(arm["lengths"])}) for arm in request["arms"]]
    world_sizes = sorted({arm.world_size for arm in arms})
    # every rank makes every group
    groups = {n: dist.new_group(list(range(n))) for n in world_sizes}
    found: list[dict[str, Any] | None] = [None] * len(arms)
    for n in world_sizes:
        if rank < n:
            mine = [i for i, arm in enumerate(arms) if arm.world_size == n]
            here = _Rank(Ranks(groups[n]), torch.device(request["devices"][rank]))
            results = _take_turns(
                [arms[i] for i in mine], here, request["rounds"], request["min_sample_s"]
            )
            for i, result in zip(mine, results, strict=True):
                found[i] = result
    return found


def main() -> None:
    """Be one of the ranks that `time_among_ranks` starts."""
    file, rank = Path(sys.argv[1]), own_rank() or 0
    request = read_json(file)
    devices = Devices(
        request["kind"], [torch.device(d) for d in request["devices"]], request["threads"]
    )
    keep_memory()
    torch.set_num_threads(devices.threads)
    gc.disable()
    with process_group(devices, devices.devices[rank], DISTRIBUTED):
        found = _take_part(request, rank)
        if rank == 0:
            write_json(file.with_name(FOUND_FILE), {"arms": found})


if __name__ == "__main__":
    sys.exit(run(main))
