"""Concurrent work: threads for virtual devices, and functions mapped over them."""

from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from typing import Any, TypeVar

import torch
from tqdm import tqdm

from lab.machine.limits import usable_cores

J = TypeVar("J")
T = TypeVar("T")


def thread_pool(size: int, threads: int) -> ThreadPoolExecutor:
    """Return a pool of `size` Python threads; each computes with `threads` torch threads.

    Each thread sets that number itself, since it does not inherit the main thread's: a product in
    a new thread would use all cores.
    """
    return ThreadPoolExecutor(size, initializer=torch.set_num_threads, initargs=(threads,))


def map_with_progress(
    name: str, function: Callable[[J], T], jobs: Iterable[J], device: torch.device
) -> dict[J, T]:
    """Return `function` of each job; on a CPU one job runs per core, with one thread each.

    So the results' bits do not depend on the number of cores. A progress bar labelled `name` shows
    how many jobs are done.
    """
    listed = list(jobs)
    with thread_pool(usable_cores() if device.type == "cpu" else 1, 1) as pool:
        found = tqdm(pool.map(function, listed), name, len(listed), leave=False, disable=None)
        return dict(zip(listed, found, strict=True))


def parallel_map(pool: Executor, function: Callable[..., T], *columns: Sequence[Any]) -> list[T]:
    """Return `function` of each row of `columns`, run concurrently, the first in this thread.

    So one device needs no other thread, and with several devices this thread is not idle.
    """
    first, *others = zip(*columns, strict=True)
    waiting = [pool.submit(function, *arguments) for arguments in others]
    return [function(*first), *(future.result() for future in waiting)]
