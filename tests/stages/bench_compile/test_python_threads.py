import threading

import pytest
import torch

from lab.core.shared_params import BenchParams
from lab.machine.devices import Devices
from lab.results.measurements import Results
from stages.bench_compile.measure import names, python_threads
from stages.bench_compile.measure.compiled_forms import mlp

CPU = Devices("cpu-virtual", [torch.device("cpu")], 1)
PARAMS = BenchParams(starts=1, rounds=2, min_sample_ms=1e-3)


def test_each_thread_makes_all_its_calls(monkeypatch):
    monkeypatch.setattr(python_threads, "CALLS", 5)
    callers = []
    python_threads.call_by_threads(lambda x: callers.append(threading.get_ident()), None, 2)
    assert len(callers) == 10
    assert threading.get_ident() not in callers


def test_a_time_is_that_of_one_call_whoever_makes_it(monkeypatch):
    monkeypatch.setattr(python_threads, "usable_cores", lambda: 2)
    monkeypatch.setattr(python_threads, "time_arms", lambda arms, *_: dict.fromkeys(arms, (0.6,)))
    results = Results(python_threads.measure_threads(mlp(0), CPU, PARAMS, start=0))
    for form in (names.EAGER, names.SCRIPT):
        one, two = results.series(names.THREADS, form)
        assert (one.x, two.x) == (1, 2)
        assert one.values[0] == pytest.approx(6e5 / python_threads.CALLS)
        assert two.values[0] == pytest.approx(one.values[0] / 2)


def test_one_core_shows_nothing(monkeypatch):
    monkeypatch.setattr(python_threads, "usable_cores", lambda: 1)
    measured = python_threads.measure_threads(mlp(0), CPU, PARAMS, start=0)
    assert {m.remark for m in measured} == {"skipped: needs 2 cores"}
