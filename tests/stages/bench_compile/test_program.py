"""None"""

import threading

import pytest
import torch

from lab.core.shared_params import BenchParams
from lab.machine.devices import Devices
from lab.results.measurements import Results
from stages.bench_compile.measure import names, program_times, python_threads, thousand_calls
from stages.bench_compile.measure.compiled_forms import mlp
from stages.bench_compile.measure.program_text import (
    DEFINITIONS,
    PROGRAM,
    count_instructions,
    fold,
    run,
)


def test_a_program_prints_the_same_as_text_compiled_and_folded():
    assert run(PROGRAM) == run(compile(PROGRAM, "", "exec")) == run(fold(PROGRAM)) == [10]


def test_what_is_printed_is_kept_in_its_order():
    assert run("print(2)\nprint(1)") == [2, 1]
    assert run("2 + 1") == []


def test_folding_leaves_what_the_books_program_need_be():
    assert fold(PROGRAM) == "print(10)"


@pytest.mark.parametrize(
    ("end", "folded"),
    [
        ("result = add(1, 2) * x", "result = 3 * x"),  # the rest of the expression is as it was
        ("result = add(1, b=x)", "result = add(1, b=x)"),
        ("result = other(add(2, 2))", "result = other(4)"),  # an unknown function is not called
        ("result = add(add(1, 2), add(3, 4))", "result = 10"),
    ],
)
def test_only_known_calls_on_constants_are_computed(end, folded):
    assert fold(DEFINITIONS + end).endswith(folded)


def test_functions_stay_while_something_calls_them():
    kept = fold(f"{DEFINITIONS}x = 5\nprint(add(x, 1))")
    assert "def add(" in kept
    assert run(kept) == [6]


def test_instructions_of_inner_functions_count():
    inner = compile("def f(a):\n    return a + 1\n", "", "exec")
    assert count_instructions(inner) > count_instructions(compile("f = 1", "", "exec"))
    assert count_instructions(compile(fold(PROGRAM), "", "exec")) < count_instructions(
        compile(PROGRAM, "", "exec")
    )


CPU = Devices("cpu-virtual", [torch.device("cpu")], 1)
PARAMS = BenchParams(starts=1, rounds=2, min_sample_ms=1e-3)


def test_text_and_the_folded_program_are_timed():
    results = Results(program_times.measure_program(CPU, PARAMS, start=0))
    assert results.variants(names.PROGRAM) == [names.TEXT, names.FOLDED]


def test_the_folded_program_prints_the_books_result_with_less_work():
    results = Results(program_times.measure_folding(CPU))
    assert results.one(names.PRINTED, names.FOLDED).values == (10,)
    before, after = (
        results.one(names.INSTRUCTIONS, form).values[0]
        for form in (names.COMPILED_ONCE, names.FOLDED)
    )
    assert after < before / 2


def test_each_thread_makes_all_its_calls(monkeypatch):
    monkeypatch.setattr(python_threads, "CALLS", 5)
    callers = []
    python_threads.call_by_threads(lambda x: callers.append(threading.get_ident()), None, 2)
    assert len(callers) == 10
    assert threading.get_ident() not in callers


def test_a_time_is_that_of_one_call_whoever_makes_it(monkeypatch):
    monkeypatch.setattr(python_threads, "usable_cores", lambda: 2)
    monkeypatch.setattr(
        python_threads, "time_variants", lambda variants, *_: dict.fromkeys(variants, (0.6,))
    )
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


def test_the_calls_are_those_of_the_notes_in_their_order(monkeypatch):
    """Called, scripted, called; then a new net is called, scripted outside the clock, called."""
    log: list[str] = []

    class Net:
        def __init__(self, name: str) -> None:
            self.name = name

        def to(self, device: torch.device) -> "Net":
            return self

        def __call__(self, x: torch.Tensor) -> None:
            log.append(self.name)

    def script(net: Net) -> Net:
        log.append(f"script {net.name}")
        return Net(f"{net.name} scripted")

    nets = iter((Net("a"), Net("b")))
    monkeypatch.setattr(thousand_calls, "mlp", lambda seed: next(nets))
    monkeypatch.setattr(thousand_calls, "script", script)
    monkeypatch.setattr(thousand_calls, "CALLS", 3)
    monkeypatch.setattr(thousand_calls, "read_clock", lambda devices: float(len(log)))
    measured = thousand_calls.measure_thousand_calls(0, CPU)
    assert log == [*("a", "script a", "a scripted"), *["b"] * 3, "script b", *["b scripted"] * 3]
    assert {m.variant: m.values for m in measured} == {
        names.EAGER: (3000.0,),
        names.SCRIPT: (3000.0,),
        names.FIRST_IN_PROCESS: (1000.0,),
    }
