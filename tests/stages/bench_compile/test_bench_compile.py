"""What bench_compile derives from its samples."""

import pytest

from lab.results.measurements import Measurement
from stages.bench_compile import __main__ as bench_compile
from tests.made_up import measurements, metrics, one


def test_compiling_pays_after_its_seconds_over_what_a_call_saves():
    m = metrics("bench_compile", measurements("bench_compile", "cuda"), "cuda")
    build, saved = (
        3.5 + 1000e-6 * 0,
        (36 - 12) * 1e-6,
    )  # AOTInductor: 7th form, 40 - 4 * 7 us against 36
    assert m["aotinductor_break_even_calls"] == pytest.approx(build / saved, rel=1e-2)
    assert m["aotinductor_speedup"] == pytest.approx(3, rel=1e-2)
    assert m["forms_equal_eager"] == "yes"


def test_a_form_that_is_not_faster_never_pays():
    made = [
        one("call", name, t, "cpu-virtual", 1, "us")
        for name, t in ((bench_compile.compiled.INFERENCE, 40), (bench_compile.compiled.AOT, 50))
    ]
    made.append(Measurement("build", bench_compile.compiled.AOT, 0, (5.0,), "s", "cpu-virtual"))
    made.append(
        Measurement("difference", bench_compile.compiled.AOT, 1, (0.5,), "logit", "cpu-virtual")
    )
    m = bench_compile.summarise(made, 1)
    assert m["aotinductor_break_even_calls"] == "never"
    assert m["forms_equal_eager"] == "no"
