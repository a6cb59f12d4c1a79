"""Whom the clock waits for before it is read, and that nothing is timed by another one."""

import torch

from lab.timing import clock

# what reads a clock that people and time servers set


def test_every_gpu_of_the_list_is_waited_for_once_and_no_other(monkeypatch):
    waited = []
    monkeypatch.setattr(torch.cuda, "synchronize", waited.append)
    gpus = [
        torch.device("cuda", 0),
        torch.device("cuda", 1),
        torch.device("cuda", 0),
        torch.device("cpu"),
    ]
    clock.synchronize(gpus)
    assert sorted(map(str, waited)) == ["cuda:0", "cuda:1"]


def test_the_clock_is_read_after_the_wait(monkeypatch):
    order = []
    monkeypatch.setattr(clock, "synchronize", lambda devices: order.append("wait"))
    monkeypatch.setattr(clock.time, "perf_counter", lambda: order.append("read") or 1.0)
    clock.read_clock([torch.device("cpu")])
    assert order == ["wait", "read"]
