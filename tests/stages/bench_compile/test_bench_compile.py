"""What bench_compile derives from its samples."""

from dataclasses import replace

import pytest

from lab.results.measurements import Results
from stages.bench_compile.__main__ import summarise
from stages.bench_compile.measure import names
from stages.bench_compile.page.section import break_even_calls, over_eager
from tests.made_up import measurements, one


def test_speedups_are_of_the_smallest_batch_and_outputs_are_compared():
    m = summarise(measurements("bench_compile", "cuda"))
    assert m[names.SCRIPT_SPEEDUP] == pytest.approx(40 / 32, rel=1e-2)
    assert m[names.COMPILE_SPEEDUP] == pytest.approx(36 / 24, rel=1e-2)
    assert m[names.FOLDED_SPEEDUP] == pytest.approx(40 / 0.2, rel=1e-2)
    assert m[names.COMPILE_BUILD_S] == 2
    assert m[names.SAME_OUTPUTS] == "yes"


@pytest.mark.parametrize("demo", [names.DIFFERENCE, names.SAVED_DIFFERENCE])
def test_one_output_that_differs_is_noticed(demo):
    made = measurements("bench_compile", "cpu-virtual")
    last = max(i for i, m in enumerate(made) if m.demo == demo)
    made[last] = replace(made[last], values=(0.5,))
    assert summarise(made)[names.SAME_OUTPUTS] == "no"


def test_compiling_pays_after_its_seconds_over_what_a_call_saves():
    results = Results(measurements("bench_compile", "cuda"))
    assert over_eager(results, names.AOT).median == pytest.approx(36 / 16, rel=1e-2)
    assert break_even_calls(results, names.AOT) == pytest.approx(3 / (36e-6 - 16e-6), rel=1e-2)


def test_a_form_that_is_not_faster_never_pays():
    made = measurements("bench_compile", "cuda")
    for us in (36, 50):
        others = [m for m in made if (m.demo, m.arm) != (names.CALL, names.AOT)]
        slow = one(names.CALL, names.AOT, us, "cuda", 1, "us")
        assert break_even_calls(Results([*others, slow]), names.AOT) is None


def test_torchscript_is_compared_with_eager_as_the_notes_do_and_the_others_without_gradients():
    results = Results(measurements("bench_compile", "cuda"))
    assert over_eager(results, names.SCRIPT).median == pytest.approx(40 / 32, rel=1e-2)
    assert over_eager(results, names.FROZEN).median == pytest.approx(36 / 28, rel=1e-2)
