import pytest
import torch

from lab.machine.devices import Devices
from lab.results.measurements import Results
from stages.bench_compile.measure.program import DEFINITIONS, PROGRAM, fold, measure_folding, run


def test_a_program_prints_the_same_as_text_compiled_and_folded():
    assert run(PROGRAM) == run(compile(PROGRAM, "", "exec")) == run(fold(PROGRAM)) == [10]


def test_folding_reduces_the_books_program_to_one_print():
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


CPU = Devices("cpu-virtual", [torch.device("cpu")], 1)


def test_folding_leaves_less_than_half_of_the_instructions():
    results = Results(measure_folding(CPU))
    before, after = (
        results.one("instructions", form).values[0] for form in ("compiled once", "folded first")
    )
    assert after < before / 2
