"""Work side by side: threads for virtual devices, and functions mapped over them."""

from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from typing import Any, TypeVar

import torch
from tqdm import tqdm

from lab.machine.limits import usable_cores

J = TypeVar("J")
T = TypeVar("T")


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
