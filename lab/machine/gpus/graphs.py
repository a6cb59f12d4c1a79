"""Work of a GPU recorded once and replayed by one call: CUDA graphs."""

from collections.abc import Callable
from typing import Any, TypeVar

import torch

T = TypeVar("T")
WARM_UPS = 3  # calls before the recording: libraries then have their memory, plans and compilers


def recorded(work: Callable[[], T], pool: Any = None) -> tuple[Callable[[], None], T]:
    """What replays the work of a call of `work` on the current GPU, and what that call returned.

    Each replay reads what lies where that call read, and overwrites what it returned. Graphs of one
    `pool` (`torch.cuda.graph_pool_handle`) use the same memory for what lies in between, so they
    must not run at the same time.
    """
    aside = torch.cuda.Stream()
    aside.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(aside):
        for _ in range(WARM_UPS):
            work()
    torch.cuda.current_stream().wait_stream(aside)
    graph = torch.cuda.CUDAGraph()
    # other threads, such as a bar's, may ask the driver for something in the meantime
    with torch.cuda.graph(graph, pool=pool, capture_error_mode="thread_local"):
        returned = work()
    return graph.replay, returned
