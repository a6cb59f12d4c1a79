"""Forked processes of this host as ranks of a process group, on the loopback address only."""

import gc
import os
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from functools import partial
from multiprocessing.connection import Connection, wait
from typing import Any, TypeVar

import torch
import torch.distributed as dist

from lab.core.errors import DistributedError
from lab.core.shared_params import BenchParams
from lab.machine.allocator import disable_malloc_trim
from lab.machine.devices import Devices
from lab.machine.fresh_process import FreshProcess, fresh_process, silence_stdout
from lab.parallel.process_group import (
    PeerLostError,
    all_reduce_max,
    place,
    process_group,
    rendezvous_store,
)
from lab.timing.bench import Variant, samples_in_turns
from lab.timing.clock import read_clock

TIMEOUT_S = 600  # for ranks of benchmarks
CAUSE_S = 5  # from a failed collective until the rank that caused it has reported
T = TypeVar("T")
K = TypeVar("K")


def run_on_ranks(world_size: int, devices: Devices, work: Callable[..., T], *arguments: Any) -> T:
    """Run `work(device, *arguments)` in `world_size` ranks; return the first rank's result.

    The ranks form a process group. Rank i has device i of `devices` and its threads.

    Raises:
        LabError: a rank died.
        ValueError: there are more ranks than devices.
    """
    if world_size > len(devices.devices):
        raise ValueError(
            f"expected at most {len(devices.devices)} ranks, one for each device, got {world_size}"
        )
    answer: T = call_in_ranks(
        world_size, devices.threads, TIMEOUT_S, _in_group, devices, work, arguments
    )
    return answer


def on_ranks(world_size: int, devices: Devices) -> Callable[..., Any]:
    """Return a benchmark's `call` that runs work in `world_size` ranks; see `own_device`."""

    def call(name: str, work: Callable[..., T], *arguments: Any) -> T:
        answer: T = run_on_ranks(world_size, devices, _without_device, work, *arguments)
        return answer

    return call


def _without_device(device: torch.device, work: Callable[..., T], *arguments: Any) -> T:
    return work(*arguments)


def own_device(devices: Devices) -> torch.device:
    """Return the device of this process, which is a rank."""
    return devices.devices[dist.get_rank()]


def call_in_ranks(
    world_size: int, threads: int, timeout_s: int, work: Callable[..., T], *arguments: Any
) -> T:
    """Run `work(*arguments)` in `world_size` processes; return the result of the first.

    They find RANK, WORLD_SIZE and the rest in their environment, as torchrun sets them. They are
    killed when this function ends in whatever way.

    Raises:
        LabError: the first error that a rank raised, or a rank died or stopped answering.
    """
    store = rendezvous_store(timeout_s)
    with ExitStack() as stack:
        ranks = {}
        for rank in range(world_size):
            environment = place(rank, world_size, threads, store.port)
            process = fresh_process(f"rank {rank}", _be_rank, environment, work, arguments)
            ranks[rank] = stack.enter_context(process)
        found: T = _received(ranks)[0]
    return found


def _received(ranks: Mapping[int, FreshProcess]) -> dict[int, Any]:
    """Return each rank's result; if ranks failed, raise the cause rather than its consequences."""
    found, left = {}, {process.link: rank for rank, process in ranks.items()}
    lost: PeerLostError | None = None
    while left and (ready := wait(list(left), CAUSE_S if lost else None)):
        for link in ready:
            assert isinstance(link, Connection)  # noqa: S101
            rank = left.pop(link)
            try:
                found[rank] = ranks[rank].receive()
            except PeerLostError as error:
                lost = error
    if lost and left:
        silent = ", ".join(f"rank {rank}" for rank in sorted(left.values()))
        raise DistributedError(f"{silent} did not answer in time")
    if lost:
        raise lost
    return found


def time_in_turns(
    variants: Mapping[K, Variant], bench: BenchParams, start: int, device: torch.device
) -> dict[K, tuple[float, ...]]:
    """Return seconds per call of each variant in the slowest rank, see `samples_in_turns`.

    All ranks take part, and have variants with the same keys in the same order.
    """
    return samples_in_turns(variants, partial(slowest_seconds, device), bench, start)


def slowest_seconds(device: torch.device, variant: Variant, calls: int) -> float:
    """Return the slowest rank's seconds for `calls` calls, which all ranks start together."""
    all_reduce_max([0])  # all ranks are here
    start = read_clock([device])
    for _ in range(calls):
        variant()
    [slowest] = all_reduce_max([read_clock([device]) - start])
    return slowest


def _be_rank(
    link: Connection,
    environment: dict[str, str],
    work: Callable[..., Any],
    arguments: tuple[Any, ...],
) -> None:
    os.environ |= environment
    found = work(*arguments)
    link.send(found if environment["RANK"] == "0" else None)


def _in_group(devices: Devices, work: Callable[..., T], arguments: tuple[Any, ...]) -> T:
    silence_stdout()
    disable_malloc_trim()
    torch.set_num_threads(devices.threads)
    gc.disable()
    own = devices.devices[int(os.environ["RANK"])]
    with process_group(devices, own, TIMEOUT_S):
        return work(own, *arguments)
