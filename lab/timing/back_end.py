"""The share of a call's time spent in the C++ back end, by torch's profiler."""

from collections.abc import Sequence

import torch

from lab.timing.bench import Variant
from lab.timing.clock import read_clock
from lab.timing.profiler import profile


def back_end_share(variant: Variant, devices: Sequence[torch.device], min_seconds: float) -> float:
    """Return the percentage over calls that take `min_seconds`, after two calls to warm up.

    An operation's back-end time runs from handing it over until its result is there or, if it is
    queued, until it has been queued.
    """
    variant()
    start = read_clock(devices)
    variant()
    calls = max(1, round(min_seconds / (read_clock(devices) - start)))
    with profile(use_kineto=True) as profiler:
        start = read_clock(devices)
        for _ in range(calls):
            variant()
        seconds = read_clock(devices) - start
    handed_over = [event for event in profiler.function_events if event.cpu_parent is None]
    busy_us: float = sum(event.cpu_time_total for event in handed_over)
    return 100 * busy_us / 1e6 / seconds
