"""The share of a call's time that is spent in the C++ back end, as torch's profiler sees it."""

from collections.abc import Sequence

import torch

from lab.timing.bench import Variant
from lab.timing.clock import read_clock
from lab.timing.profiler import profile


def back_end_share(variant: Variant, devices: Sequence[torch.device], min_seconds: float) -> float:
    """The percentage of the time of calls that take `min_seconds`, after two that do not count.

    What counts is the time between handing an operation over and having its result or, where it is
    queued, having queued it.
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
