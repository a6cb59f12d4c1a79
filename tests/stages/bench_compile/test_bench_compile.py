"""What bench_compile derives from its samples."""

from dataclasses import replace

import pytest

from lab.results.measurements import Results
from stages.bench_compile.__main__ import summarise
from stages.bench_compile.measure import names
from stages.bench_compile.page.section import break_even_calls, over_eager, section
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


def test_the_page_tells_what_compiling_gains_and_when_it_pays_off(tmp_path):
    write("bench_compile", tmp_path)
    part = section(tmp_path / "bench_compile")
    assert "TorchScript is 1.25x (1.25 to 1.25) as fast as eager" in part.answer
    # 1 s to build, over 8 µs that a call saves
    assert part.answer.endswith("pays off after 130,000 calls.")
    assert part.headline
    assert (part.headline.number, part.headline.spread) == (
        "1.25 times",
        "1.25 to 1.25, 99 % of 12 starts",
    )


def test_the_page_tells_what_python_takes_and_what_a_program_seen_whole_gains(tmp_path):
    write("bench_compile", tmp_path)
    large, compiled, share, book, program, *_ = section(tmp_path / "bench_compile").findings
    assert large.startswith("At batch 256, 4 of 4 compiled forms")
    assert "takes 2 s until its first result and is then faster than eager" in compiled
    assert compiled.endswith("at batch 1: 1.5x (1.5 to 1.5).")
    assert "takes 60 % of an eager call at batch 1 and 98 % at batch 256" in share
    assert "2.14 s eager, 4.05 s compiled" in book
    assert "is “print(10)”: 7 bytecode instructions become 7" in program
    assert "runs 200x (200 to 200) as fast as parsed each time" in program
