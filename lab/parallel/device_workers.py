"""Work side by side: one lane per device, or two on one GPU, whatever that means on this machine
(section 13.3).

A lane is a GPU's stream, into which the host only puts work, or a thread of a virtual device, which
computes. The same code drives both: `together` starts a job in each lane and `timing.read_clock`
waits for all of them.
"""

from collections.abc import Callable, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, TypeVar

import torch

Job = Callable[[], object]
T = TypeVar("T")


@dataclass(frozen=True)
class Lane:
    """A place for work that other lanes do not wait for; `stream` is None on a CPU."""

    device: torch.device
    stream: torch.cuda.Stream | None = None

    def run(self, job: Job) -> None:
        """Do a job here: put it into the stream, or compute it in the calling thread."""
        if self.stream is None:
            job()
            return
        with torch.cuda.stream(self.stream):  # it makes the stream's device current, too
            job()


def lanes_on(devices: Sequence[torch.device]) -> list[Lane]:
    """Return a lane for each entry of `devices`, a GPU that is listed twice having two streams."""
    return [Lane(d, torch.cuda.Stream(d) if d.type == "cuda" else None) for d in devices]


def crew(size: int, threads: int) -> ThreadPoolExecutor:
    """Return a pool of `size` threads, one for each lane or device, each of which computes with
    `threads` threads.

    Told in each thread itself: in a new one matrix products would take all cores, whatever the main
    thread was told, and lanes would be in each other's way.
    """
    return ThreadPoolExecutor(size, initializer=torch.set_num_threads, initargs=(threads,))


def run_each(pool: Executor, function: Callable[..., T], *columns: Sequence[Any]) -> list[T]:
    """Return `function` of each row of `columns`, computed side by side, the first in the calling
    thread.

    So one device needs no other thread, and with several none sits idle while the cores' own
    threads spin.
    """
    first, *others = zip(*columns, strict=True)
    waiting = [pool.submit(function, *arguments) for arguments in others]
    return [function(*first), *(future.result() for future in waiting)]


def together(jobs: Sequence[Job], lanes: Sequence[Lane], pool: Executor) -> None:
    """Start each job in its lane. CPU lanes have finished on return; GPUs may still be working.

    Jobs for GPUs are put into their streams by this one thread, one after the other, as the notes
    do.
    """
    if all(lane.stream is not None for lane in lanes):
        for lane, job in zip(lanes, jobs, strict=True):
            lane.run(job)
        return
    run_each(pool, Lane.run, lanes, jobs)
