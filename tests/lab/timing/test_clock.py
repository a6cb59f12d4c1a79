"""Whom the clock waits for before it is read, and that nothing is timed by another one."""

import ast

import torch

from lab.timing import clock
from tests.helpers import ROOT

# what reads a clock that people and time servers set
SET_CLOCKS = {"time.time", "time.time_ns", "datetime.now", "datetime.datetime.now"}
NO_DURATION = {  # why these may read it
    "lab/core/exit_codes.py": "torch's launcher wants to know when an error happened",
    "lab/timing/readings.py": "to find out whether it was set",
    "lab/tools/doctor/environment.py": "whether files are from the future",
    "lab/tools/doctor/leftovers.py": "the age of files",
}


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


def set_clocks_read(source: str) -> list[str]:
    """The calls in a program that read a clock which can be set."""
    if not any(word in source for word in ("time.time", ".now(", "REALTIME")):
        return []
    calls = (node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Call))
    names = (ast.unparse(call.func) for call in calls)
    return [name for name in names if name in SET_CLOCKS or "REALTIME" in name]


def test_nothing_is_timed_by_a_clock_that_can_be_set():
    sources = [*(ROOT / "lab").rglob("*.py"), *(ROOT / "stages").rglob("*.py"), ROOT / "tasks.py"]
    found = {
        path.relative_to(ROOT).as_posix()
        for path in sources
        if set_clocks_read(path.read_text(encoding="utf-8"))
    }
    assert found <= set(NO_DURATION)
    assert set_clocks_read("start = time.time()\nwork()\nprint(time.time() - start)")
