import pytest
import torch

from lab.core.shared_params import BenchParams
from lab.machine.devices import Devices
from lab.results.measurements import Results
from stages.bench_compile.measure.program import (
    DEFINITIONS,
    PROGRAM,
    count_instructions,
    fold,
    measure_folding,
    measure_program,
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
    results = Results(measure_program(CPU, PARAMS, 0))
    assert results.variants("program") == ["text", "folded first"]


def test_folding_leaves_less_than_half_of_the_instructions():
    results = Results(measure_folding(CPU))
    before, after = (
        results.one("instructions", form).values[0] for form in ("compiled once", "folded first")
    )
    assert after < before / 2
