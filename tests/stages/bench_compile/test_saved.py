import shutil
import subprocess
from pathlib import Path

import pytest
import torch

from lab.machine.devices import Devices
from lab.results.measurements import Results
from stages.bench_compile.measure import names, saved
from stages.bench_compile.measure.forms import FILES, NUM_INPUTS, mlp
from stages.bench_compile.measure.saved import (
    LOADS,
    load_all,
    load_in_a_new_process,
    measure_cpp,
    measure_saved,
    save,
)

CPU = torch.device("cpu")
ONE = Devices("cpu", [CPU], 1)
pytestmark = pytest.mark.filterwarnings(
    "ignore:.*torch.jit:DeprecationWarning", "ignore:.*torch.jit:FutureWarning"
)


@pytest.fixture(scope="module")
def forms(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with every form that needs no compiler, the weights and the example."""
    folder = tmp_path_factory.mktemp("saved")
    save(mlp(0), torch.randn(5, 512), folder)
    return folder


@pytest.mark.slow
def test_saved_forms_give_the_same_in_a_new_process(forms):
    found = load_in_a_new_process(forms, CPU)
    assert set(found) == set(FILES) - {names.AOT}, "what was not built is not found"
    for name, form in found.items():
        assert form["difference"] <= 1e-5, name
        assert form["bytes"] > 4 * 164_000, "all parameters are in the file"
        assert len(form["load_s"]) == LOADS


@pytest.mark.slow
def test_a_changed_file_is_noticed_and_a_damaged_one_said(forms, tmp_path):
    folder = tmp_path / "changed"
    shutil.copytree(forms, folder)
    torch.save(mlp(1).state_dict(), folder / FILES[names.WEIGHTS])
    (folder / FILES[names.EXPORT]).write_bytes(b"nonsense")
    found = load_all(folder, CPU)
    assert found[names.WEIGHTS]["difference"] > 1e-2
    assert found[names.EXPORT]["problem"].startswith("does not load in a new process (")
    assert found[names.SCRIPT]["difference"] <= 1e-5, "the others still count"


@pytest.mark.slow
def test_what_is_loaded_becomes_rows_and_what_is_not_a_reason(monkeypatch, tmp_path):
    loaded = {
        names.WEIGHTS: {"bytes": 2048, "load_s": [0.001, 0.002], "difference": 0.5},
        names.SCRIPT: {"problem": "does not load in a new process (RuntimeError)"},
    }
    monkeypatch.setattr(saved, "load_in_a_new_process", lambda folder, device: loaded)
    results = Results(measure_saved(mlp(0), 0, ONE, tmp_path))
    values = [
        results.one(experiment, names.WEIGHTS).values
        for experiment in ("saved_size", "saved_load", "saved_difference")
    ]
    assert values == [(2.0,), (1.0, 2.0), (0.5,)]
    skipped = {m.variant: m.remark for m in results.skipped() if m.experiment == "saved_load"}
    assert skipped == {
        names.SCRIPT: "skipped: does not load in a new process (RuntimeError)",
        names.EXPORT: "skipped: nothing was saved",
        names.AOT: "skipped: nothing was saved",
    }


def test_the_programs_logits_are_compared_with_eagers(monkeypatch, tmp_path):
    """A stand-in for the C++ program, whose compilation takes long: it prints other logits."""
    net = mlp(0)
    with torch.no_grad():
        first, second = net(torch.ones(1, NUM_INPUTS)).flatten().tolist()
    program = tmp_path / "program"
    program.write_text(f'#!/bin/sh\ntest -s "$1" && echo "{first} {second + 0.5} "\n')
    program.chmod(0o755)
    monkeypatch.setattr(saved, "_cpp_program", lambda folder: program)
    monkeypatch.setattr(saved, "missing_compiler", lambda: "")
    found = measure_cpp(net, True, ONE, tmp_path)
    assert abs(found.values[0] - 0.5) < 1e-5


def test_what_keeps_it_from_running_is_said(monkeypatch, tmp_path):
    def fails(folder):
        raise subprocess.CalledProcessError(1, ["c++"])

    net = mlp(0)
    assert "bench_compile.compilers" in measure_cpp(net, False, ONE, tmp_path).remark
    monkeypatch.setattr(saved, "missing_compiler", lambda: "a C++ compiler")
    assert measure_cpp(net, True, ONE, tmp_path).remark == "skipped: needs a C++ compiler"
    monkeypatch.setattr(saved, "missing_compiler", lambda: "")
    monkeypatch.setattr(saved, "_cpp_program", fails)
    found = measure_cpp(net, True, ONE, tmp_path)
    assert found.remark == "skipped: does not build or run here (CalledProcessError)"
    assert (found.experiment, found.variant) == ("front_end", "C++")
