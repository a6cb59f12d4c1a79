"""Times of bench_compile, and findings derived from its samples."""

import json
import os
import subprocess
import sys

import pytest
import torch

from lab.claims.rules import Verdict
from lab.claims.verdicts import judge
from lab.core.files import ROWS, read_rows, write_rows
from lab.core.shared_params import BenchParams, DeviceParams
from lab.machine.compiler_cache import empty_compiler_cache
from lab.machine.devices import Devices
from lab.results.diff import Taken
from lab.results.measurements import Measurement, Results, measurements_of, rows_of
from lab.results.reasons import Reason
from stages.bench_compile.findings import findings, over_eager
from stages.bench_compile.measure import names, times
from stages.bench_compile.measure.building import measure_building
from stages.bench_compile.measure.forms import mlp, of_each
from stages.bench_compile.measure.names import AOT, EAGER, INFERENCE, SCRIPT
from stages.bench_compile.measure.params import CompileParams, Params
from stages.bench_compile.measure.saved import measure_cpp, measure_saved
from stages.bench_compile.page.figures import break_even_calls
from tests.helpers import ROOT, claim_of
from tests.stages.bench_compile.crashing import crash_in


def calls(**us: float) -> list[Measurement]:
    """Return calls of each form, equal in eight processes; `us` is microseconds at batch 1."""
    forms = {getattr(names, name): each for name, each in us.items()}
    return [
        Measurement("call", form, batch, (batch * each,) * 8, "us")
        for form, each in forms.items()
        for batch in (1, 4)
    ]


CALLS = calls(EAGER=40, INFERENCE=36, COMPILE=24, AOT=16)
BUILDS = [Measurement("build", AOT, 0, (3,))]


@pytest.mark.parametrize("experiment", ["difference", "saved_difference"])
def test_one_output_that_differs_is_noticed(experiment):
    far = {SCRIPT: 1e-6, AOT: -0.5}
    made = [Measurement(experiment, form, 0, (each,)) for form, each in far.items()]
    assert findings(Results(made))[experiment].value == 0.5


def test_break_even_is_build_time_over_time_saved_per_call():
    results = Results([*CALLS, *BUILDS])
    assert over_eager(results, AOT, 1).value == 36 / 16
    assert break_even_calls(results, AOT).value == pytest.approx(3 / (36e-6 - 16e-6))
    starts = (14.0, 15.0, 16.0, 16.0, 16.0, 16.0, 17.0, 18.0)  # they save 18 to 22 µs
    varied = [Measurement("call", AOT, 1, starts, "us"), *calls(INFERENCE=36), *BUILDS]
    needed = break_even_calls(Results(varied), AOT)
    assert (needed.low, needed.high) == pytest.approx((3 / 22e-6, 3 / 18e-6))


@pytest.mark.parametrize("us", [36, 50])
def test_a_form_that_is_not_faster_never_pays(us):
    slow = Results([*calls(INFERENCE=36, AOT=us), *BUILDS])
    assert break_even_calls(slow, AOT) is None


def test_a_claim_about_batch_1_is_not_decided_by_another_batch():
    found = findings(Results([m for m in CALLS if m.x == 4]))
    assert found["torchcompile_speedup"].value == 36 / 24
    assert found["torchcompile_at_batch_1"].missing


def test_each_batch_of_a_net_is_a_case():
    us = {(EAGER, 1): 2.0, (SCRIPT, 1): 1.0, (EAGER, 4): 3.0, (SCRIPT, 4): 3.0}
    made = [
        Measurement("cases", form, batch, (each,) * 8, "us", columns={"net": "LeNet"})
        for (form, batch), each in us.items()
    ]
    assert findings(Results(made))["faster_cases_percent"].value == 50


CPU = Devices("cpu-virtual", [torch.device("cpu")], 1)


PARAMS = Params(
    seed=0,
    devices=DeviceParams(cpu_threads=1),
    bench=BenchParams(starts=1, rounds=2, min_sample_ms=1e-3),
    bench_compile=CompileParams(batch_sizes=[1, 4], case_batch_sizes=[1], compilers=False),
)
BUILT = [EAGER, INFERENCE, SCRIPT, names.FROZEN]


def test_each_form_is_built_and_its_outputs_are_compared(tmp_path):
    built, crashes = measure_building(PARAMS, CPU, tmp_path)
    assert not crashes
    results = Results(built)
    assert results.variants("build") == results.variants("difference") == BUILT
    for form in BUILT:
        differences = results.series("difference", form)
        assert [m.x for m in differences] == [1, 4]
        assert max(m.values[0] for m in differences) <= claim_of("A4").at_most


@pytest.mark.slow
def test_without_torchscript_the_rest_is_measured_and_its_claims_say_why(monkeypatch, tmp_path):
    monkeypatch.delattr(torch.jit, "script")
    monkeypatch.setattr(times, "load", lambda params: PARAMS)
    with empty_compiler_cache() as folder:
        measured = [
            *measure_building(PARAMS, CPU, folder)[0],
            *measure_saved(mlp(0), 0, CPU, folder),
            measure_cpp(mlp(0), True, CPU, folder),
            *times.measure(0, crashes={}),
        ]
    results = Results(measured)
    assert results.variants("call") == [EAGER, INFERENCE]
    assert results.variants("saved_size") == [names.WEIGHTS, names.EXPORT]
    write_rows(tmp_path, rows_of(measured))
    read = Results(measurements_of(read_rows(tmp_path / ROWS)))
    for claim in map(claim_of, ("A3e", "A6a", "A6b", "A6e")):
        judged = judge(claim, Taken(findings(read)))
        assert judged.verdict is Verdict.NOT_TESTABLE
        assert "no_torchscript" in judged.reason.about, claim.id


def test_all_forms_are_timed_at_every_size_and_missing_ones_are_reported():
    with empty_compiler_cache():
        results = Results(times.measure_calls(mlp(0), PARAMS, CPU, 0, crashes={}))
    assert results.variants("call") == BUILT
    for form in BUILT:
        assert [m.x for m in results.series("call", form)] == [1, 4]
    assert {m.variant for m in results.skipped() if m.experiment == "call"} == {
        names.COMPILE,
        names.GRAPH,
        AOT,
    }
    assert [m.experiment for m in results.skipped()][-1] == "enqueue"


def test_a_form_that_crashes_is_skipped_with_its_signal_and_the_rest_continue():
    found = of_each(BUILT, crash_in)
    crash = Reason("failed", "SIGSEGV")
    assert found[SCRIPT] == crash
    assert found[EAGER] == found[INFERENCE] != found[names.FROZEN], "of one process, and a new one"
    with empty_compiler_cache():
        results = Results(times.measure_calls(mlp(0), PARAMS, CPU, 0, {SCRIPT: crash}))
    assert results.variants("call") == [form for form in BUILT if form != SCRIPT]
    [skipped] = [m for m in results.skipped() if m.variant == SCRIPT]
    assert skipped.remark == "skipped: failed: SIGSEGV"


WITH_COMPILERS = """
import json
from stages.bench_compile.measure import times, params as names
from stages.bench_compile.measure.building import measure_building
from lab.machine.compiler_cache import empty_compiler_cache
from stages.bench_compile.measure.forms import mlp
from tests.stages.bench_compile.test_times import CPU, PARAMS

ours = PARAMS.bench_compile.model_copy(update={"compilers": True})
params = PARAMS.model_copy(update={"bench_compile": ours})
with empty_compiler_cache() as folder:
    built, crashes = measure_building(params, CPU, folder)
    called = times.measure_calls(mlp(0), params, CPU, 0, crashes)
remarks = {m.variant: m.remark for m in called if m.experiment == "call"}
print(json.dumps([sorted({m.variant for m in built}), remarks]))
"""


@pytest.mark.slow
def test_a_broken_compiler_costs_only_its_own_forms(tmp_path):
    """It is on PATH, so nothing seems missing; it fails when a form's first call runs it."""
    compiler = tmp_path / "c++"
    compiler.write_text("#!/bin/sh\necho 'internal compiler error' >&2\nexit 4\n")
    compiler.chmod(0o755)
    result = subprocess.run(
        [sys.executable, "-c", WITH_COMPILERS],
        env=os.environ | {"CXX": str(compiler), "PYTHONPATH": str(ROOT)},
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert result.returncode == 0, result.stderr
    built, remarks = json.loads(result.stdout.splitlines()[-1])
    assert built == sorted(BUILT)
    for form in BUILT:
        assert remarks[form] == "", form
    for form in (names.COMPILE, AOT):
        assert remarks[form].startswith("skipped: failed: "), form


def test_a_time_is_per_call_for_any_number_of_threads(monkeypatch):
    monkeypatch.setattr(times, "usable_cores", lambda: 2)
    monkeypatch.setattr(
        times, "time_variants", lambda variants, *_: dict.fromkeys(variants, (0.6,))
    )
    results = Results(times.measure_threads(mlp(0), CPU, PARAMS.bench, 0))
    for form in (EAGER, SCRIPT):
        one, two = results.series("threads", form)
        assert (one.x, two.x) == (1, 2)
        assert one.values[0] == pytest.approx(6e5 / times.CALLS_OF_A_THREAD)
        assert two.values[0] == pytest.approx(one.values[0] / 2)
