"""What bench_compile derives from its samples."""

from dataclasses import replace

import pytest

from lab.results.measurements import Results
from stages.bench_compile import names
from stages.bench_compile.__main__ import summarise
from stages.bench_compile.section import break_even_calls, over_inference, section
from tests.made_up import measurements, one, write


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
    assert over_inference(results, names.AOT).median == pytest.approx(36 / 16, rel=1e-2)
    assert break_even_calls(results, names.AOT) == pytest.approx(3 / (36e-6 - 16e-6), rel=1e-2)


def test_a_form_that_is_not_faster_never_pays():
    made = measurements("bench_compile", "cuda")
    for us in (36, 50):
        others = [m for m in made if (m.demo, m.arm) != (names.CALL, names.AOT)]
        slow = one(names.CALL, names.AOT, us, "cuda", 1, "us")
        assert break_even_calls(Results([*others, slow]), names.AOT) is None


def test_the_page_tells_what_python_takes_and_holds_back(tmp_path):
    write("bench_compile", tmp_path)
    script, _, _, share, threads, program, *_ = section(tmp_path / "bench_compile").findings
    assert "1.14x (1.14 to 1.14) over 1000 calls" in script
    assert "0.5x (0.5 to 0.5) if its first call" in script
    assert "takes 60 % at batch 1 and 98 % at batch 256" in share
    assert "hands over 5 operations" in share
    assert threads.startswith("Two Python threads make 0.8x")
    assert "2x (2 to 2) with TorchScript" in threads
    assert "is “print(10)”" in program
