"""Work side by side: a worker for each device, or two for one GPU (section 13.3).

A worker is a GPU's stream, which the host only fills, or a thread of a virtual device, which
computes. The same code drives both: `together` gives each worker its job, and
lab.timing.clock.read_clock waits for all of them.
"""

from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, TypeVar

import torch
from tqdm import tqdm

from lab.machine.devices import usable_cores

Job = Callable[[], object]
J = TypeVar("J")
T = TypeVar("T")


@dataclass(frozen=True)
class Worker:
    """A place for work that other workers do not wait for; `stream` is None on a CPU."""

    device: torch.device
    stream: torch.cuda.Stream | None = None

    def run(self, job: Job) -> None:
        """Put a job into the stream, or compute it in the calling thread."""
        if self.stream is None:
            job()
            return
        with torch.cuda.stream(self.stream):  # it makes the stream's device current, too
            job()


def workers_on(devices: Sequence[torch.device]) -> list[Worker]:
    """A worker for each entry of `devices`; a GPU that is listed twice has two streams."""
    return [Worker(d, torch.cuda.Stream(d) if d.type == "cuda" else None) for d in devices]


def thread_pool(size: int, threads: int) -> ThreadPoolExecutor:
    """A pool of `size` Python threads, each of which computes with `threads` threads of torch's.

    Each thread sets that number itself: torch does not pass on the main thread's, so that in a new
    thread a product would take all cores.
    """
    return ThreadPoolExecutor(size, initializer=torch.set_num_threads, initargs=(threads,))


def map_with_progress(
    name: str, function: Callable[[J], T], jobs: Iterable[J], device: torch.device
) -> dict[J, T]:
    """`function` of each job; on a CPU as many at a time as there are cores, one thread each.

    So the results are the same bits whatever the number of cores. A bar shows how many of `name`
    are done.
    """
    listed = list(jobs)
    with thread_pool(usable_cores() if device.type == "cpu" else 1, 1) as pool:
        found = tqdm(pool.map(function, listed), name, len(listed), leave=False, disable=None)
        return dict(zip(listed, found, strict=True))


def parallel_map(pool: Executor, function: Callable[..., T], *columns: Sequence[Any]) -> list[T]:
    """`function` of each row of `columns`, side by side, the first in the calling thread.

    So one device needs no other thread, and with several the calling one is not idle.
    """
    first, *others = zip(*columns, strict=True)
    waiting = [pool.submit(function, *arguments) for arguments in others]
    return [function(*first), *(future.result() for future in waiting)]


def run_concurrently(jobs: Sequence[Job], workers: Sequence[Worker], pool: Executor) -> None:
    """Start each worker's job. On a CPU all have finished on return; GPUs may still be working.

    This one thread fills the GPUs' streams, one after the other, as the notes do.
    """
    if all(worker.stream is not None for worker in workers):
        for worker, job in zip(workers, jobs, strict=True):
            worker.run(job)
        return
    parallel_map(pool, Worker.run, workers, jobs)
