"""What a call does in the C++ back end, as torch's profiler sees it: operations, and their time."""

import os
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch.profiler import ProfilerActivity, profile

from lab.timing.bench import Arm
from lab.timing.clock import read_clock

OPERATION = "aten::"  # what its names begin with


@dataclass(frozen=True)
class BackEnd:
    """What a call does in the back end, on average.

    Attributes:
        handed_over: operations that Python hands over.
        operations: that run in all, with those that others call.
        share: of the call's time, in percent, between handing an operation over and having its
            result or, where it is queued, having queued it.
    """

    handed_over: float
    operations: float
    share: float


def profiled(arm: Arm, devices: Sequence[torch.device], min_seconds: float = 0.0) -> BackEnd:
    """Profile a call, or as many as take `min_seconds`, after two that do not count."""
    os.environ.setdefault("KINETO_LOG_LEVEL", "99")  # its library would print that it starts
    arm()
    start = read_clock(devices)
    arm()
    calls = max(1, round(min_seconds / (read_clock(devices) - start)))
    with profile(activities=[ProfilerActivity.CPU]) as profiler:
        start = read_clock(devices)
        for _ in range(calls):
            arm()
        seconds = read_clock(devices) - start
    events = profiler.events()
    handed_over = [event for event in events if event.cpu_parent is None]
    return BackEnd(
        len(handed_over) / calls,
        sum(event.name.startswith(OPERATION) for event in events) / calls,
        100 * sum(event.cpu_time_total for event in handed_over) / 1e6 / seconds,
    )
