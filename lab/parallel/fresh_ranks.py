"""Fresh processes of this host as ranks of one process group, for what a stage asks of several.

They meet at a store of the loopback address, do their work, and end; the first one's answer counts.
"""

import gc
import math
import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from typing import Any, TypeVar

import torch
import torch.distributed as dist

from lab.core.shared_params import LOOPBACK, BenchParams, DistributedParams
from lab.machine.allocator import keep_memory
from lab.machine.devices import Devices
from lab.machine.fresh_process import fresh_process
from lab.parallel.launch import ADDRESS_VARIABLE, PeerLostError, meeting_place, process_group
from lab.timing.bench import turns
from lab.timing.clock import read_clock

DISTRIBUTED = DistributedParams(nnodes=1, rdzv_endpoint=f"{LOOPBACK}:0", timeout_s=600)
CAUSE_S = 5  # for a rank that died to be heard after the others that lost it
T = TypeVar("T")
K = TypeVar("K")


def ask_ranks(world_size: int, devices: Devices, work: Callable[..., T], *arguments: Any) -> T:
    """What `work(device, *arguments)` returns in the first of so many fresh ranks.

    All do it, in a process group of theirs, rank i with `devices`' number i and its threads.

    Raises:
        LabError: a rank died.
        ValueError: there are more ranks than devices.
    """
    if world_size > len(devices.devices):
        raise ValueError(
            f"expected at most {len(devices.devices)} ranks, one for each device, got {world_size}"
        )
    store, address = meeting_place(DISTRIBUTED.timeout_s)
    with ExitStack() as stack:
        ranks = {}
        for rank in range(world_size):
            place = _Place(rank, world_size, address)
            process = fresh_process(f"rank {rank}", _be_rank, place, devices, work, arguments)
            ranks[rank] = stack.enter_context(process)
        found, left = {}, {process.link: rank for rank, process in ranks.items()}
        lost: PeerLostError | None = None
        # whoever ends first is heard first, but the cause may be heard after what follows from it
        while left and (ready := wait(list(left), CAUSE_S if lost else None)):
            for link in ready:
                assert isinstance(link, Connection)  # noqa: S101
                rank = left.pop(link)
                try:
                    found[rank] = ranks[rank].receive()
                except PeerLostError as error:
                    lost = error
        if lost:
            raise lost
    del store  # it served the ranks until now
    answer: T = found[0]
    return answer


def time_in_turns(
    arms: Mapping[K, Callable[[], object]], bench: BenchParams, start: int, device: torch.device
) -> dict[K, tuple[float, ...]]:
    """Seconds per call of each arm, by its key, of the slowest rank; sample i was taken in round i.

    All ranks of the process group take part, with arms of the same keys in the same order. Start
    number `start` goes on with the order of turns where earlier ones left off.
    """
    calls = {
        key: calls_lasting(arm, bench.min_sample_ms / 1e3, device) for key, arm in arms.items()
    }
    seconds: dict[K, list[float]] = {key: [] for key in arms}
    for key in turns(list(arms), bench.rounds, start * bench.rounds):
        seconds[key].append(seconds_per_call(arms[key], calls[key], device))
    return {key: tuple(samples) for key, samples in seconds.items()}


def calls_lasting(
    call: Callable[[], object],
    min_sample_s: float,
    device: torch.device,
    group: dist.ProcessGroup | None = None,
) -> int:
    """How many calls take `min_sample_s`, the same number in every rank of the group."""
    calls = 1
    while (taken := calls * seconds_per_call(call, calls, device, group)) < min_sample_s:
        calls = max(2 * calls, math.ceil(1.1 * calls * min_sample_s / taken))
    return calls


def seconds_per_call(
    call: Callable[[], object],
    calls: int,
    device: torch.device,
    group: dist.ProcessGroup | None = None,
) -> float:
    """The time of the group's slowest rank, of so many calls that all begin together."""
    most([0], group)  # all ranks are here
    start = read_clock([device])
    for _ in range(calls):
        call()
    [slowest] = most([read_clock([device]) - start], group)
    return slowest / calls


def most(mine: Sequence[float], group: dist.ProcessGroup | None = None) -> list[float]:
    """The largest of all ranks' numbers; it also makes the ranks wait for each other."""
    values = torch.tensor(mine, dtype=torch.float64)
    dist.all_reduce(values, dist.ReduceOp.MAX, group)
    largest: list[float] = values.tolist()
    return largest


@dataclass(frozen=True)
class _Place:
    """Which of how many ranks a process is, and the address at which they meet."""

    rank: int
    world_size: int
    address: str


def _be_rank(
    link: Connection,
    place: _Place,
    devices: Devices,
    work: Callable[..., T],
    arguments: tuple[Any, ...],
) -> None:
    os.environ |= {  # as torch's launcher tells its ranks
        "RANK": str(place.rank),
        "WORLD_SIZE": str(place.world_size),
        ADDRESS_VARIABLE: place.address,
    }
    keep_memory()
    torch.set_num_threads(devices.threads)
    gc.disable()
    own = devices.devices[place.rank]
    with process_group(devices, own, DISTRIBUTED):
        found = work(own, *arguments)
    link.send(found if place.rank == 0 else None)
