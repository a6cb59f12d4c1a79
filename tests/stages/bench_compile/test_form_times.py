import json
import os
import subprocess
import sys

import pytest
import torch

from lab.core.shared_params import BenchParams, DeviceParams
from lab.machine.devices import Devices
from lab.results.measurements import Results
from stages.bench_compile.measure import form_times, names
from stages.bench_compile.measure.compiled_forms import empty_compiler_cache, mlp
from stages.bench_compile.measure.params import CompileParams, Params
from tests.helpers import ROOT

CPU = Devices("cpu-virtual", [torch.device("cpu")], 1)
PARAMS = Params(
    seed=0,
    devices=DeviceParams(cpu_threads=1),
    bench=BenchParams(starts=1, rounds=2, min_sample_ms=1e-3),
    bench_compile=CompileParams(
        batch_sizes=[1, 4], case_batch_sizes=[1], first_calls=2, compilers=False
    ),
)
BUILT = [names.EAGER, names.INFERENCE, names.SCRIPT, names.FROZEN]


def test_each_of_the_first_calls_has_its_own_time(monkeypatch):
    now, durations = 0.0, iter((5.0, 1.0, 0.5))

    def form(x):
        nonlocal now
        now += next(durations)

    monkeypatch.setattr(form_times, "read_clock", lambda devices: now)
    assert form_times.first_calls(form, None, Devices("cpu", [], 1), 3) == [5, 1, 0.5]


def test_building_counts_the_first_call_and_outputs_are_compared(tmp_path):
    results = Results(form_times.measure_building(mlp(0), PARAMS, CPU, tmp_path))
    assert results.arms(names.BUILD) == results.arms(names.DIFFERENCE) == BUILT
    for form in BUILT:
        first, second = results.series(names.FIRST_CALLS, form)
        assert (first.x, second.x) == (1, 2)
        [built] = results.one(names.BUILD, form).values
        assert built >= 1e-6 * first.values[0], form
        differences = results.series(names.DIFFERENCE, form)
        assert [m.x for m in differences] == [1, 4]
        assert max(m.values[0] for m in differences) <= names.TOLERANCE


def test_all_forms_are_timed_at_every_size_and_what_is_missing_is_said():
    with empty_compiler_cache():
        results = Results(form_times.measure_calls(mlp(0), PARAMS, CPU, start=0))
    assert results.arms(names.CALL) == BUILT
    for form in BUILT:
        assert [m.x for m in results.series(names.CALL, form)] == [1, 4]
    assert {m.arm for m in results.skipped() if m.demo == names.CALL} == {
        names.COMPILE,
        names.GRAPH,
        names.AOT,
    }
    assert [m.demo for m in results.skipped()][-1] == names.ENQUEUE


WITH_COMPILERS = """
import json
from stages.bench_compile.measure import form_times, names
from stages.bench_compile.measure.compiled_forms import empty_compiler_cache, mlp
from tests.stages.bench_compile.test_form_times import CPU, PARAMS

ours = PARAMS.bench_compile.model_copy(update={"compilers": True})
params = PARAMS.model_copy(update={"bench_compile": ours})
with empty_compiler_cache() as folder:
    built = form_times.measure_building(mlp(0), params, CPU, folder)
    called = form_times.measure_calls(mlp(0), params, CPU, start=0)
remarks = {m.arm: m.remark for m in called if m.demo == names.CALL}
print(json.dumps([sorted({m.arm for m in built}), remarks]))
"""


@pytest.mark.slow
def test_a_broken_compiler_costs_its_own_forms_alone(tmp_path):
    """It is on PATH, so that nothing is missing, and fails when it is called: in a first call."""
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
    for form in (names.COMPILE, names.AOT):
        assert remarks[form].startswith("skipped: does not build here ("), form
