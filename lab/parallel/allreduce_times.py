"""All-reduces among real processes, and training steps that wait for one, timed in turn.

`time_jobs` starts a process for each device; they are `python -m lab.parallel.allreduce_times
JOBS`, with the jobs as a JSON file, beside which rank 0 leaves what they found. All ranks of a job
meet before each sample, and a sample is the slowest rank's time.
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
from lab.parallel.launch import launch, own_rank, process_group
from lab.parallel.replicas import forward_backward, grad_of, sgd
from lab.results.measurements import Measurement
from lab.results.stats import paired_ratios
from lab.timing.bench import A_AGAINST_A, turns
from lab.timing.clock import read_clock

DISTRIBUTED = DistributedParams(nnodes=1, rdzv_endpoint=f"{LOOPBACK}:0", timeout_s=600)
# is summed: in one bucket, what is left is to join the tensors and to take them apart
NOTHING = "nothing"
CONTROL_LENGTH = 1024
LR = 0.01
# of a sample: each multiplies the numbers by the ranks, which must not leave float32
MOST_CALLS = 20


@dataclass(frozen=True)
class Job:
    """Float32 tensors of so many numbers each, summed by the first `world_size` ranks.

    With a `net` (of lab.nets.models) each rank first computes its gradients for `images` images of
    its own, and updates its replica by them afterwards: a step of SGD. The tensors that are summed
    in between are the gradients, or others if the job says so: then the difference to NOTHING is
    what communication costs after computing.
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
    """Seconds per call in each round, whether the sum was exact, and what the busiest rank sends in
    a call.

    After a step the sum counts as exact if all ranks hold the same weights. What the library sends
    is not seen: 0. A probe's result is not looked at.
    """

    seconds: tuple[float, ...]
    exact: bool
    messages_sent: int
    bytes_sent: int


def gradient_lengths(net: str) -> tuple[int, ...]:
    """Return how many numbers each gradient of a net has."""
    return tuple(p.numel() for p in MODELS[net](torch.Generator().manual_seed(0)).parameters())


def time_jobs(
    jobs: Sequence[Job], rounds: int, min_sample_ms: float, devices: Devices
) -> list[Timed]:
    """Return what each job took, in their order; rank i computes on device i.

    Jobs of as many ranks take turns, forwards and backwards, `rounds` times; then those of more
    ranks do.

    Raises:
        DistributedError: a rank died or fell silent.
        ValueError: a job for more ranks than there are devices.
    """
    world_size = max(job.world_size for job in jobs)
    if world_size > len(devices.devices):
        raise ValueError(
            f"expected at most {len(devices.devices)} ranks, one for each device, got {world_size}"
        )
    with tempfile.TemporaryDirectory() as folder, _environment_kept():
        request = {
            "jobs": [asdict(job) for job in jobs],
            "rounds": rounds,
            "min_sample_s": min_sample_ms / 1e3,
            "kind": devices.kind,
            "devices": [str(device) for device in devices.devices],
            "threads": devices.threads,
        }
        write_json(Path(folder) / "jobs.json", request)
        launch(
            "lab.parallel.allreduce_times",
            str(Path(folder) / "jobs.json"),
            world_size,
            DISTRIBUTED,
            devices.threads,
        )
        found = read_json(Path(folder) / "found.json")["jobs"]
    return [Timed(**{**one, "seconds": tuple(one["seconds"])}) for one in found]


def controls(world_size: int, aa_runs: int) -> list[Job]:
    """Return pairs of one and the same job, next to each other, to be timed among others; see
    `noise_control`.
    """
    return 2 * aa_runs * [Job("star", world_size, (CONTROL_LENGTH,))]


def noise_control(found: Sequence[Timed], devices: Devices) -> list[Measurement]:
    """Return each pair of `controls` as a job compared with itself: whatever speed-up that shows is
    false.
    """
    pairs = zip(found[::2], found[1::2], strict=True)
    return [
        Measurement(
            A_AGAINST_A,
            "ratio",
            i,
            tuple(paired_ratios(one.seconds, again.seconds)),
            "x",
            devices.kind,
            devices.threads,
        )
        for i, (one, again) in enumerate(pairs)
    ]


@contextmanager
def _environment_kept() -> Iterator[None]:
    """Leave variables and logging as they were: launching sets them for the ranks, and this process
    goes on.
    """
    before = dict(os.environ)
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)
        logging.disable(logging.NOTSET)


class _Stand:
    """One rank's place in the jobs of its world size: its tensors, and what all ranks agree on."""

    def __init__(self, ranks: Ranks, device: torch.device) -> None:
        self.ranks, self.device = ranks, device
        self._numbers: dict[tuple[int, ...], tuple[list[Tensor], list[Tensor]]] = {}
        self._training: dict[tuple[str, int], tuple[OnBytes, Tensor, Tensor]] = {}
        # NCCL needs all ranks the first time
        dist.all_reduce(torch.zeros(1, device=device), group=ranks.group)

    def first_call(self, job: Job) -> tuple[bool, int, int]:
        """Call once, outside the clock, and return whether the sum is exact, and what the busiest
        rank sends.
        """
        before = self.ranks.messages_sent, self.ranks.bytes_sent
        call, n = self._prepared(job), self.ranks.world_size
        call()
        if job.net and job.gradients:
            weights = sum(
                float(p.detach().double().sum())
                for p in self._training[job.net, job.images][0].parameters()
            )
            highest, lowest = self._most(weights, -weights)
            wrong = job.algorithm in ALGORITHMS and highest != -lowest
        else:
            expected = _integers(job.lengths, n * (n + 1) // 2, self.device)
            tensors = self._numbers[job.lengths][1]
            wrong = job.algorithm in ALGORITHMS and not all(map(torch.equal, tensors, expected))
        sent = self.ranks.messages_sent - before[0], self.ranks.bytes_sent - before[1]
        any_wrong, messages, num_bytes = self._most(int(wrong), *sent)
        return not any_wrong, int(messages), int(num_bytes)

    def sample(self, job: Job, calls: int) -> float:
        """Return the slowest rank's seconds per call."""
        call = self._prepared(job)
        self._most(0)  # all ranks are here
        start = read_clock([self.device])
        for _ in range(calls):
            call()
        [slowest] = self._most(read_clock([self.device]) - start)
        return slowest / calls

    def _prepared(self, job: Job) -> Callable[[], None]:
        """Return what is to be timed, with all that it needs at hand."""
        if job.net:
            others = [] if job.gradients else self._filled(job)
            return partial(_step, job, *self._trained(job), others, self.ranks)
        return partial(_sum, job, self._filled(job), self.ranks)

    def _trained(self, job: Job) -> tuple[OnBytes, Tensor, Tensor]:
        """Return the job's replica, the same in every rank, and this rank's images with their
        labels.
        """
        if (job.net, job.images) not in self._training:
            net = OnBytes(MODELS[job.net](torch.Generator().manual_seed(0))).to(self.device)
            generator = torch.Generator().manual_seed(1 + self.ranks.rank)
            X = torch.randint(0, 256, (job.images, 28, 28), dtype=torch.uint8, generator=generator)
            y = torch.randint(0, 10, (job.images,), generator=generator)
            self._training[job.net, job.images] = net, X.to(self.device), y.to(self.device)
        return self._training[job.net, job.images]

    def _filled(self, job: Job) -> list[Tensor]:
        """Return the job's tensors with this rank's numbers in them; jobs of the same lengths share
        them.
        """
        if job.lengths not in self._numbers:
            numbers = _integers(job.lengths, self.ranks.rank + 1, self.device)
            self._numbers[job.lengths] = numbers, [torch.empty_like(tensor) for tensor in numbers]
        numbers, tensors = self._numbers[job.lengths]
        for tensor, values in zip(tensors, numbers, strict=True):
            tensor.copy_(values)
        return tensors

    def _most(self, *mine: float) -> list[float]:
        """Return the largest of all ranks' numbers, on the CPU; it also makes the ranks wait for
        each other.
        """
        values = torch.tensor(mine, dtype=torch.float64)
        dist.all_reduce(values, dist.ReduceOp.MAX, self.ranks.group)
        most: list[float] = values.tolist()
        return most


def _integers(lengths: Sequence[int], factor: int, device: torch.device) -> list[Tensor]:
    """Return multiples of `factor` as float32: small integers, so that sums are exact in every
    order.
    """
    return [
        (factor * (torch.arange(length, device=device) % 1000 + 1)).float() for length in lengths
    ]


def _sum(job: Job, tensors: Sequence[Tensor], ranks: Ranks) -> None:
    algorithm = {**ALGORITHMS, **PROBES, NOTHING: lambda tensor, ranks: None}[job.algorithm]
    (in_one_bucket if job.one_bucket else per_tensor)(tensors, algorithm, ranks)


def _step(job: Job, net: OnBytes, X: Tensor, y: Tensor, others: list[Tensor], ranks: Ranks) -> None:
    """Take a step of data-parallel SGD, summing the gradients or other tensors."""
    forward_backward(net, X, y)
    params = list(net.parameters())
    _sum(job, [grad_of(p) for p in params] if job.gradients else others, ranks)
    sgd(params, LR, job.images * ranks.world_size)


def _take_turns(
    jobs: Sequence[Job], stand: _Stand, rounds: int, min_sample_s: float
) -> list[dict[str, Any]]:
    """Return what `Timed` says of each job, the same in every rank."""
    first = [stand.first_call(job) for job in jobs]
    calls = [min(MOST_CALLS, math.ceil(min_sample_s / stand.sample(job, 1))) for job in jobs]
    seconds: list[list[float]] = [[] for _ in jobs]
    for j in turns(range(len(jobs)), rounds):
        seconds[j].append(stand.sample(jobs[j], calls[j]))
    return [
        asdict(Timed(tuple(samples), exact, messages, num_bytes))
        for samples, (exact, messages, num_bytes) in zip(seconds, first, strict=True)
    ]


def _take_part(request: Mapping[str, Any], rank: int) -> list[dict[str, Any] | None]:
    """Do this rank's share of all jobs, and return what was found of those it took part in."""
    jobs = [Job(**{**job, "lengths": tuple(job["lengths"])}) for job in request["jobs"]]
    world_sizes = sorted({job.world_size for job in jobs})
    # every rank makes every group
    groups = {n: dist.new_group(list(range(n))) for n in world_sizes}
    found: list[dict[str, Any] | None] = [None] * len(jobs)
    for n in world_sizes:
        if rank < n:
            mine = [i for i, job in enumerate(jobs) if job.world_size == n]
            stand = _Stand(Ranks(groups[n]), torch.device(request["devices"][rank]))
            results = _take_turns(
                [jobs[i] for i in mine], stand, request["rounds"], request["min_sample_s"]
            )
            for i, result in zip(mine, results, strict=True):
                found[i] = result
    return found


def main() -> None:
    """Be one of the ranks that `time_jobs` starts."""
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
            write_json(file.with_name("found.json"), {"jobs": found})


if __name__ == "__main__":
    sys.exit(run(main))
