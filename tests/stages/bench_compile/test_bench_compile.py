"""What bench_compile derives from its samples."""

import json
import os
import subprocess
import sys
from dataclasses import replace

import pytest
import torch

from lab.claims.rules import Over
from lab.core.shared_params import BenchParams, DeviceParams
from lab.machine.devices import Devices
from lab.results.measurements import Results
from stages.bench_compile.__main__ import summarise
from stages.bench_compile.measure import cases, form_times, front_end, names
from stages.bench_compile.measure.back_end_share import measure_share
from stages.bench_compile.measure.compiled_forms import NUM_INPUTS, empty_compiler_cache, mlp
from stages.bench_compile.measure.front_end import measure_front_end
from stages.bench_compile.measure.params import CompileParams, Params
from stages.bench_compile.page import claims
from stages.bench_compile.page.section import break_even_calls, over_eager
from tests.helpers import ROOT
from tests.made_up import measurements, one


def test_speedups_are_of_the_smallest_batch_and_outputs_are_compared():
    m = summarise(measurements("bench_compile", "cuda"))
    assert m[names.SCRIPT_SPEEDUP] == pytest.approx(40 / 32, rel=1e-2)
    assert m[names.COMPILE_SPEEDUP] == pytest.approx(36 / 24, rel=1e-2)
    assert m[names.FOLDED_SPEEDUP] == pytest.approx(40 / 0.2, rel=1e-2)
    assert m[names.COMPILE_BUILD_S] == 2
    assert m[names.SAME_OUTPUTS] == "yes"


@pytest.mark.parametrize("experiment", [names.DIFFERENCE, names.SAVED_DIFFERENCE])
def test_one_output_that_differs_is_noticed(experiment):
    made = measurements("bench_compile", "cpu-virtual")
    last = max(i for i, m in enumerate(made) if m.experiment == experiment)
    made[last] = replace(made[last], values=(0.5,))
    assert summarise(made)[names.SAME_OUTPUTS] == "no"


def test_compiling_pays_after_its_seconds_over_what_a_call_saves():
    results = Results(measurements("bench_compile", "cuda"))
    assert over_eager(results, names.AOT).median == pytest.approx(36 / 16, rel=1e-2)
    assert break_even_calls(results, names.AOT) == pytest.approx(3 / (36e-6 - 16e-6), rel=1e-2)


def test_a_form_that_is_not_faster_never_pays():
    made = measurements("bench_compile", "cuda")
    for us in (36, 50):
        others = [m for m in made if (m.experiment, m.variant) != (names.CALL, names.AOT)]
        slow = one(names.CALL, names.AOT, us, "cuda", 1, "us")
        assert break_even_calls(Results([*others, slow]), names.AOT) is None


def test_torchscript_is_compared_with_eager_as_the_notes_do_and_the_others_without_gradients():
    results = Results(measurements("bench_compile", "cuda"))
    assert over_eager(results, names.SCRIPT).median == pytest.approx(40 / 32, rel=1e-2)
    assert over_eager(results, names.FROZEN).median == pytest.approx(36 / 28, rel=1e-2)


def test_each_network_is_timed_eager_and_as_torchscript(monkeypatch):
    called = []

    def time_variants(variants, *_):
        outputs = {name: variant() for name, variant in variants.items()}
        eager, scripted = outputs.values()
        torch.testing.assert_close(scripted, eager)
        assert not eager.requires_grad
        called.extend(outputs)
        return dict.fromkeys(variants, (1e-6,))

    monkeypatch.setattr(cases, "time_variants", time_variants)
    measured = cases.measure_cases(PARAMS, Devices("cpu-virtual", [torch.device("cpu")], 1), 0)
    networks = {variant.split(":")[0] for variant in called}
    assert len(networks) >= 3
    for network in networks:
        for form in (names.EAGER, names.SCRIPT):
            assert Results(measured).one(names.CASES, names.of_case(network, form))


def test_cases_are_medians_over_their_starts():
    found = claims.over_cases([2, 2, 8, 3, 3, 3], [1] * 6, [0, 1, 2, 0, 1, 2])
    assert (found.value, found.count, found.over) == (2.5, 2, Over.CASES)


CPU = Devices("cpu-virtual", [torch.device("cpu")], 1)


def test_the_share_is_measured_at_every_size():
    shares = Results(measure_share(mlp(0), PARAMS, CPU)).series(names.BACK_END, names.EAGER)
    assert [m.x for m in shares] == [1, 4]
    assert all(0 < share < 100 for m in shares for share in m.values)


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
    assert results.variants(names.BUILD) == results.variants(names.DIFFERENCE) == BUILT
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
    assert results.variants(names.CALL) == BUILT
    for form in BUILT:
        assert [m.x for m in results.series(names.CALL, form)] == [1, 4]
    assert {m.variant for m in results.skipped() if m.experiment == names.CALL} == {
        names.COMPILE,
        names.GRAPH,
        names.AOT,
    }
    assert [m.experiment for m in results.skipped()][-1] == names.ENQUEUE


WITH_COMPILERS = """
import json
from stages.bench_compile.measure import form_times, names
from stages.bench_compile.measure.compiled_forms import empty_compiler_cache, mlp
from tests.stages.bench_compile.test_bench_compile import CPU, PARAMS

ours = PARAMS.bench_compile.model_copy(update={"compilers": True})
params = PARAMS.model_copy(update={"bench_compile": ours})
with empty_compiler_cache() as folder:
    built = form_times.measure_building(mlp(0), params, CPU, folder)
    called = form_times.measure_calls(mlp(0), params, CPU, start=0)
remarks = {m.variant: m.remark for m in called if m.experiment == names.CALL}
print(json.dumps([sorted({m.variant for m in built}), remarks]))
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


def test_the_programs_logits_are_compared_with_eagers(monkeypatch, tmp_path):
    """A stand-in for the C++ program, whose compilation takes long: it prints other logits."""
    net = mlp(0)
    with torch.no_grad():
        first, second = net(torch.ones(1, NUM_INPUTS)).flatten().tolist()
    program = tmp_path / "program"
    program.write_text(f'#!/bin/sh\ntest -s "$1" && echo "{first} {second + 0.5} "\n')
    program.chmod(0o755)
    monkeypatch.setattr(front_end, "_compiled", lambda folder: program)
    monkeypatch.setattr(front_end, "missing_compiler", lambda: "")
    found = measure_front_end(net, True, CPU, tmp_path)
    assert abs(found.values[0] - 0.5) < 1e-5


def test_what_keeps_it_from_running_is_said(monkeypatch, tmp_path):
    def fails(folder):
        raise subprocess.CalledProcessError(1, ["c++"])

    net = mlp(0)
    assert "bench_compile.compilers" in measure_front_end(net, False, CPU, tmp_path).remark
    monkeypatch.setattr(front_end, "missing_compiler", lambda: "a C++ compiler")
    assert measure_front_end(net, True, CPU, tmp_path).remark == "skipped: needs a C++ compiler"
    monkeypatch.setattr(front_end, "missing_compiler", lambda: "")
    monkeypatch.setattr(front_end, "_compiled", fails)
    found = measure_front_end(net, True, CPU, tmp_path)
    assert found.remark == "skipped: does not build or run here (CalledProcessError)"
    assert (found.experiment, found.variant) == (names.FRONT_END, names.CPP)
