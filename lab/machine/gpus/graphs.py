"""CUDA graphs: a GPU's work, recorded once and replayed by one call."""

from collections.abc import Callable
from typing import Any, TypeVar

import torch

T = TypeVar("T")
WARM_UPS = 3  # calls before recording, for libraries to set up memory, plans and compiled code


def recorded(work: Callable[[], T], pool: Any = None) -> tuple[Callable[[], None], T]:
    """Record a call of `work` on the current GPU; return its replay and what the call returned.

    Each replay reads the same memory as the recorded call, and overwrites what that call returned.
    Graphs with the same `pool` (`torch.cuda.graph_pool_handle`) share memory for intermediate
    results, so they must not run concurrently.
    """
    aside = torch.cuda.Stream()
    aside.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(aside):
        for _ in range(WARM_UPS):
            work()
    torch.cuda.current_stream().wait_stream(aside)
    graph = torch.cuda.CUDAGraph()
    # other threads, such as a progress bar's, may call the driver meanwhile
    with torch.cuda.graph(graph, pool=pool, capture_error_mode="thread_local"):
        returned = work()
    return graph.replay, returned
