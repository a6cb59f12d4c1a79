"""Measurements by ranks: messages, then each net's steps, alternating with the steps' parts.

All ranks take part in every turn: if only some of them work, the others wait.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import timedelta
from functools import partial
from typing import NamedTuple

import torch
import torch.distributed as dist
from torch import Tensor, nn

from lab.core.errors import MachineError
from lab.core.shared_params import BenchParams
from lab.machine.devices import Devices
from lab.nets.models import MODELS, UInt8Input
from lab.parallel.collectives import ALGORITHMS, PROBES, Ranks, in_one_bucket, per_tensor
from lab.parallel.cost_model import ADDING, ONE_BUCKET, THERE_AND_BACK
from lab.parallel.local_ranks import TIMEOUT_S, own_device, slowest_seconds, time_in_turns
from lab.parallel.replicas import forward_backward, grad_of, replicate, sgd
from lab.results.measurements import Cell, Measurement, again
from lab.timing.bench import balanced_turns
from stages.scaling.measure.buckets import LR, BucketStep, ready_ms
from stages.scaling.measure.names import (
    ALLREDUCES,
    AT_LAST,
    AT_ONCE,
    COMPUTING,
    NOTES,
    NOTES_IMAGES,
    WAITING,
)
from stages.scaling.measure.params import Params, ScalingParams

Groups = Mapping[int, Ranks | None]  # by number of ranks; None if this rank is not in the group


class Timed(NamedTuple):
    """A measurement without its samples, and the call that the ranks of a group time for it."""

    measurement: Measurement
    ranks: Ranks | None
    call: Callable[[Ranks], object]


def measure(
    process: int, params: Params, devices: Devices, world_sizes: Sequence[int]
) -> list[Measurement]:
    """Check all sums once; time messages, steps and their parts, and when gradients are ready."""
    p, device = params.scaling, own_device(devices)
    groups = {n: ranks_of(n, device) for n in sorted({1, *world_sizes})}
    if process == 0:
        for ranks in filter(None, groups.values()):
            check_sums(ranks, p.message_bytes, device)
    single, few, *_ = groups.values()
    found = in_turns(list(messages(p, groups, device)), params.bench, process, device)
    for name, of_net in p.nets.items():
        net = NetOnRank(name, p, params.seed, device if few else torch.device("meta"))
        steps = list(net.timed(single, few))
        if name == "lenet":
            steps.append(control_of(steps))
        # on a CPU, each call of ResNet-18 is long enough to be timed by itself
        take = calls_in_turns if name == "resnet18" and device.type == "cpu" else time_in_turns
        found += in_turns(steps, params.bench.but(rounds=of_net.rounds), process, device, take)
        dist.barrier()  # all ranks compute concurrently
        found += net.ready() if few else []
    dist.barrier()
    return [replace(m, device_kind=devices.kind, threads=devices.threads) for m in found]


def control_of(steps: Sequence[Timed]) -> Timed:
    """Return the noise control: the notes' step with the most images."""
    wanted = ("step", NOTES)
    *_, step = (s for s in steps if (s.measurement.experiment, s.measurement.variant) == wanted)
    return step._replace(measurement=replace(step.measurement, variant=again(NOTES)))


def in_turns(
    timed: Sequence[Timed],
    bench: BenchParams,
    process: int,
    device: torch.device,
    take: Callable[..., Mapping[int, Sequence[float]]] = time_in_turns,
) -> list[Measurement]:
    """Return the measurements with their samples, in milliseconds of the slowest rank."""
    calls = {
        i: partial(each.call, each.ranks) if each.ranks else lambda: None
        for i, each in enumerate(timed)
    }
    seconds = take(calls, bench, process, device)
    return [
        replace(each.measurement, values=tuple(1e3 * t for t in seconds[i]), unit="ms")
        for i, each in enumerate(timed)
    ]


def calls_in_turns(
    calls: Mapping[int, Callable[[], object]],
    bench: BenchParams,
    process: int,
    device: torch.device,
) -> dict[int, list[float]]:
    """Return the seconds of single calls in the slowest rank."""
    seconds: dict[int, list[float]] = {i: [] for i in calls}
    for i in balanced_turns(list(calls), bench.rounds, process * bench.rounds):
        seconds[i].append(slowest_seconds(device, calls[i], 1))
    return seconds


def ranks_of(n: int, device: torch.device) -> Ranks | None:
    """Return the first n ranks, or None in other ranks; all ranks must call this."""
    # by default a rank would wait half an hour for a lost one
    group = dist.new_group(list(range(n)), timeout=timedelta(seconds=TIMEOUT_S))
    if not isinstance(group, dist.ProcessGroup):
        return None
    dist.all_reduce(torch.zeros(1, device=device), group=group)  # NCCL's first call needs all ranks
    return Ranks(group)


# --- messages


def integers(num_bytes: int, device: torch.device) -> Tensor:
    """Return integers so small that float32 sums them exactly over all ranks, in any order."""
    return (torch.arange(num_bytes // 4, device=device) % 1000 + 1).float()


def check_sums(ranks: Ranks, message_bytes: Sequence[int], device: torch.device) -> None:
    """Check the sum by each algorithm.

    Raises:
        MachineError: a sum is wrong.
    """
    n = ranks.world_size
    for name, algorithm in ALGORITHMS.items():
        for num_bytes in message_bytes:
            numbers = integers(num_bytes, device)
            summed = numbers * (ranks.rank + 1)
            algorithm(summed, ranks)
            if not torch.equal(summed, numbers * (n * (n + 1) // 2)):
                raise MachineError(
                    f"all-reduce ({name}) of {num_bytes} bytes among {n} ranks: wrong sum on"
                    f" {device}; `invoke doctor` tries copies between GPUs"
                )


def messages(p: ScalingParams, groups: Groups, device: torch.device) -> Iterator[Timed]:
    """Yield all-reduces of single tensors, and for the fewest ranks also their parts; x: bytes.

    Repeated sums soon overflow to infinity, which takes no longer to add.
    """
    tensors = {size: integers(size, device) for size in sorted({4, *p.message_bytes})}
    few, *more = (n for n in groups if n > 1)
    cases = [
        (n, name, size) for n in (few, *more) for size in p.message_bytes for name in ALGORITHMS
    ]
    # sending a single number there and back shows the cost of a message
    cases += [(few, THERE_AND_BACK, size) for size in tensors]
    cases.append((few, ADDING, max(tensors)))  # short additions are mostly the cost of the call
    for n, name, size in cases:
        m = Measurement("message", name, size, (), columns={"ranks": n})
        yield Timed(m, groups[n], partial((ALGORITHMS | PROBES)[name], tensors[size]))


# --- steps of a net, and their parts


def data_parallel_step(net: nn.Module, X: Tensor, y: Tensor, name: str, ranks: Ranks) -> None:
    """Take a step of SGD: this rank's gradients, their sum over the ranks, the same update in all.

    `name` is one of ALLREDUCES. With COMPUTING (no sum) and WAITING (the sum of a single number),
    replicas drift apart.
    """
    forward_backward(net, X, y)
    params = list(net.parameters())
    if name == WAITING:
        dist.all_reduce(torch.zeros(1, device=X.device), group=ranks.group)
    elif name != COMPUTING:
        all_reduce(name, [grad_of(p) for p in params], ranks)
    sgd(params, LR, len(X) * ranks.world_size)


def all_reduce(name: str, tensors: Sequence[Tensor], ranks: Ranks) -> None:
    """Sum each tensor over the ranks by the all-reduce `name`."""
    algorithm, grouping = ALLREDUCES[name]
    (in_one_bucket if grouping == ONE_BUCKET else per_tensor)(tensors, ALGORITHMS[algorithm], ranks)


class NetOnRank:
    """A net and images on this rank: all ranks have the same weights but different images."""

    def __init__(self, net: str, p: ScalingParams, seed: int, device: torch.device) -> None:
        self._net, self._device, self._bucket_mib = net, device, p.bucket_mib
        self._images, self._summed = sorted(p.nets[net].images), p.nets[net].summed_images
        self._rounds = p.nets[net].rounds
        weights = torch.Generator().manual_seed(seed)
        self._start = UInt8Input(MODELS[net](weights)).to(device)
        both = min(p.world_sizes) * NOTES_IMAGES[net]
        # the notes' whole batch, if it is small enough to measure
        self._on_one_device = [both] if NOTES_IMAGES[net] in self._images else self._images
        generator = torch.Generator().manual_seed(seed + 1 + dist.get_rank())
        most = max(*self._images, *self._on_one_device)
        X = torch.randint(0, 256, (most, 28, 28), dtype=torch.uint8, generator=generator)
        y = torch.randint(10, (most,), generator=generator)
        self._X, self._y = X.to(device), y.to(device)

    def timed(self, single: Ranks | None, ranks: Ranks | None) -> Iterator[Timed]:
        """Yield all-reduces of gradients (x: bytes) and steps (x: images, or MiB of a bucket).

        Steps are also taken without communication, and on one device.
        """
        one = partial(Measurement, values=(), columns={"net": self._net})
        tensors = [torch.rand_like(p) for p in self._start.parameters()]
        columns: dict[str, Cell] = {"net": self._net, "tensors": len(tensors)}
        num_bytes = sum(each.nbytes for each in tensors)
        for name in ALLREDUCES:
            m = Measurement("gradients", name, num_bytes, (), columns=columns)
            yield Timed(m, ranks, partial(all_reduce, name, tensors))
        computing, summing = (replicate(self._start, self._device) for _ in range(2))
        if ranks:  # the first step allocates memory, buckets included
            for name in (COMPUTING, *ALLREDUCES):
                net = computing if name == COMPUTING else summing
                data_parallel_step(net, *self._batch(self._images[-1]), name, ranks)
        for images in self._images:
            for name in (COMPUTING, *((WAITING, *ALLREDUCES) if images in self._summed else ())):
                net = summing if name in ALLREDUCES else computing
                step = partial(data_parallel_step, net, *self._batch(images), name)
                yield Timed(one("step", name, images), ranks, step)
        for images in self._on_one_device:
            step = partial(data_parallel_step, computing, *self._batch(images), COMPUTING)
            yield Timed(one("one device", COMPUTING, images), single, step)
        if self._net == "resnet18":  # LeNet's gradients do not fill a bucket
            for mib in self._bucket_mib:
                for when in (AT_LAST, AT_ONCE):
                    bucketed = BucketStep(when, mib, replicate(self._start, self._device))
                    if ranks:
                        for _ in range(2):  # DDP rebuilds its buckets after the first
                            bucketed(*self._batch(self._images[0]), ranks)
                    step = partial(bucketed, *self._batch(self._images[-1]))
                    yield Timed(one("bucket step", when, mib), ranks, step)

    def ready(self) -> list[Measurement]:
        """Return when each gradient is ready in the backward pass; x: its bytes."""
        num_bytes = {name: p.nbytes for name, p in self._start.named_parameters()}
        found = ready_ms(self._start, *self._batch(self._images[-1]), self._rounds)
        columns = {"net": self._net}
        return [
            Measurement(
                "gradient ready",
                name.removeprefix("net."),
                num_bytes[name],
                (ms,),
                "ms",
                columns=columns,
            )
            for name, ms in found.items()
        ]

    def _batch(self, images: int) -> tuple[Tensor, Tensor]:
        return self._X[:images], self._y[:images]
