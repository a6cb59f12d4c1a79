import os
import subprocess
import sys
from functools import partial

import pytest
import torch

from lab.results.reasons import Reason
from stages.bench_compile.measure import forms, names
from stages.bench_compile.measure.forms import (
    BUILDERS,
    FILES,
    NEED_COMPILER,
    batches,
    build,
    mlp,
    obstacle,
)
from tests.helpers import ROOT

CPU = torch.device("cpu")


def test_a_form_computes_what_eager_does(tmp_path):
    net, X = mlp(0), torch.randn(5, 512)
    y = net(X)
    for form_name in BUILDERS:
        if form_name in (*NEED_COMPILER, names.GRAPH):
            continue
        outputs, seconds, reason = build(form_name, net, tmp_path, [X], lambda form: form(X))
        assert not reason, form_name
        assert seconds >= 0
        torch.testing.assert_close(outputs, y, msg=lambda m, f=form_name: f"{f}: {m}")
        with_gradients = form_name in (names.EAGER, names.SCRIPT)
        assert outputs.requires_grad == with_gradients, form_name


def test_outputs_of_every_form_are_compared():
    assert (tuple(BUILDERS), tuple(FILES)) == (names.BUILT_FORMS, names.SAVED_FORMS)


def test_the_reason_names_what_a_machine_lacks(monkeypatch, tmp_path):
    assert obstacle(names.GRAPH, CPU, compilers=True) == Reason("needs_gpu")
    assert obstacle(names.AOT, CPU, compilers=False) == Reason("off", "bench_compile.compilers")
    monkeypatch.setenv("CXX", "no-such-compiler")
    reason = Reason("needs", "a C++ compiler (no-such-compiler is not on PATH)")
    assert obstacle(names.AOT, CPU, compilers=True) == reason
    assert obstacle(names.SCRIPT, CPU, compilers=False) is None
    assert build(names.COMPILE, mlp(0), tmp_path, [], call_each([])) == (None, 0.0, reason)


def call_each(inputs):
    """Return a function that calls a form on each input."""
    return lambda form: [form(X) for X in inputs]


def test_a_compiler_that_fails_in_a_call_is_reported(tmp_path):
    def use(form):
        raise RuntimeError("cannot compile this shape")

    reason = Reason("failed", "RuntimeError")
    assert build(names.SCRIPT, mlp(0), tmp_path, [], use) == (None, 0.0, reason)


@pytest.fixture
def graphs(monkeypatch) -> list[int]:
    """Return a list that collects the batch size of each graph that torch.compile compiles."""
    compiled = []

    def backend(graph, inputs):
        compiled.append(max(len(X) for X in inputs if X.shape[1:] == (512,) and len(X) != 256))
        return graph.forward

    monkeypatch.setenv("CXX", sys.executable)  # it exists; nothing calls it
    monkeypatch.setattr(torch, "compile", partial(torch.compile, backend=backend))
    return compiled


SIZES = list(range(1, 10))  # more than torch's default limit of eight shapes


def test_every_form_is_compiled_for_every_shape(graphs, tmp_path):
    inputs = [torch.randn(n, 512) for n in SIZES]
    for _ in range(2):  # two forms of one network
        outputs, _, reason = build(names.COMPILE, mlp(0), tmp_path, inputs, call_each(inputs))
        assert not reason
        assert [len(y) for y in outputs] == SIZES
    assert graphs == 2 * SIZES


def test_a_form_that_would_silently_run_eager_is_refused(graphs, monkeypatch, tmp_path):
    inputs = [torch.randn(n, 512) for n in SIZES]

    def reason() -> Reason:
        return build(names.COMPILE, mlp(0), tmp_path, inputs, call_each(inputs))[2]

    monkeypatch.setattr(forms, "MOST_SHAPES", 8)
    assert reason() == Reason("failed", "FailOnRecompileLimitHit")
    monkeypatch.setattr(forms, "missing_for_compile", lambda: "")
    monkeypatch.setenv("TORCHDYNAMO_DISABLE", "1")
    assert reason() == Reason("failed", "RanEagerError")


@pytest.mark.parametrize("variable", ["TORCHDYNAMO_DISABLE", "TORCH_COMPILE_DISABLE"])
def test_the_reason_names_the_variable_that_turns_the_compiler_off(monkeypatch, tmp_path, variable):
    monkeypatch.setenv(variable, "1")
    assert variable in build(names.COMPILE, mlp(0), tmp_path, [], call_each([]))[2].about
    other = obstacle(names.AOT, CPU, compilers=True)
    assert not other or variable not in other.about, "another way to compile"


def test_with_torchscript_turned_off_the_stage_stops_and_times_nothing(tmp_path):
    """torch would return the network unchanged; it reads the variable at import."""
    for path in ("params.yaml", "dvc.yaml"):
        (tmp_path / path).write_text((ROOT / path).read_text())
    stage = subprocess.run(
        [sys.executable, "-m", "stages.bench_compile"],
        cwd=tmp_path,
        env=os.environ | {"PYTORCH_JIT": "0", "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert stage.returncode == 4, stage.stderr
    [line] = stage.stderr.splitlines()
    assert "PYTORCH_JIT" in line
    assert not list(tmp_path.glob("reports/bench_compile/*"))


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA GPU")
def test_a_cuda_graph_replays_what_eager_computes_for_each_input(tmp_path):
    net = mlp(0).to("cuda")
    inputs = batches([1, 4], seed=0, device=torch.device("cuda"))
    graph, _, reason = build(names.GRAPH, net, tmp_path, [*inputs.values()], lambda form: form)
    assert not reason
    for _ in range(2):  # recorded, then replayed
        for X in inputs.values():
            torch.testing.assert_close(graph(X), net(X).detach())
