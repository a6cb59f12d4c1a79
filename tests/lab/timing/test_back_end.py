from contextlib import nullcontext
from types import SimpleNamespace

import pytest
import torch

from lab.timing import back_end
from lab.timing.back_end import back_end_share

CPU = [torch.device("cpu")]


def test_share_of_the_back_end_by_hand(monkeypatch):
    """Of two calls in 1 ms, two operations take 300 us each, the transpose within them included."""

    def event(name: str, microseconds: float, parent: object = None) -> SimpleNamespace:
        return SimpleNamespace(name=name, cpu_time_total=microseconds, cpu_parent=parent)

    linear = event("aten::linear", 300)
    events = [linear, event("aten::t", 100, linear), event("aten::linear", 300)]
    clock = iter([0.0, 0.0005, 1.0, 1.001])
    monkeypatch.setattr(back_end, "read_clock", lambda devices: next(clock))
    profile = nullcontext(SimpleNamespace(function_events=events))
    monkeypatch.setattr(back_end, "profile", lambda use_kineto: profile)
    calls = []
    share = back_end_share(lambda: calls.append(1), CPU, min_seconds=0.001)
    assert share == pytest.approx(60)
    assert len(calls) == 2 + 2, "two that do not count, and two that take the time"
