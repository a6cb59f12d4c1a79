import shutil
from pathlib import Path

import pytest
import torch

from lab.machine.devices import processor
from lab.results.measurements import Results
from stages.bench_compile.measure import names, saved_forms
from stages.bench_compile.measure.compiled_forms import FILES, mlp
from stages.bench_compile.measure.saved_forms import (
    LOADS,
    load_all,
    load_in_a_new_process,
    measure_saved,
    save,
)

CPU = torch.device("cpu")
pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore:.*torch.jit:DeprecationWarning")]


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with every form that needs no compiler, the weights and the example."""
    folder = tmp_path_factory.mktemp("saved")
    save(mlp(0), torch.randn(5, 512), folder)
    return folder


def test_saved_forms_give_the_same_in_a_new_process(saved):
    found = load_in_a_new_process(saved, CPU)
    assert set(found) == set(FILES) - {names.AOT}, "what was not built is not found"
    for name, form in found.items():
        assert form["difference"] <= 1e-5, name
        assert form["bytes"] > 4 * 164_000, "all parameters are in the file"
        assert len(form["load_s"]) == LOADS


def test_a_changed_file_is_noticed_and_a_damaged_one_said(saved, tmp_path):
    folder = tmp_path / "changed"
    shutil.copytree(saved, folder)
    torch.save(mlp(1).state_dict(), folder / FILES[names.WEIGHTS])
    (folder / FILES[names.EXPORT]).write_bytes(b"nonsense")
    found = load_all(folder, CPU)
    assert found[names.WEIGHTS]["difference"] > 1e-2
    assert found[names.EXPORT]["problem"].startswith("does not load in a new process (")
    assert found[names.SCRIPT]["difference"] <= 1e-5, "the others still count"


def test_what_is_loaded_becomes_rows_and_what_is_not_a_reason(monkeypatch, tmp_path):
    loaded = {
        names.WEIGHTS: {"bytes": 2048, "load_s": [0.001, 0.002], "difference": 0.5},
        names.SCRIPT: {"problem": "does not load in a new process (RuntimeError)"},
    }
    monkeypatch.setattr(saved_forms, "load_in_a_new_process", lambda folder, device: loaded)
    threads = torch.get_num_threads()
    results = Results(measure_saved(mlp(0), 0, processor(threads), tmp_path))
    values = [
        results.one(experiment, names.WEIGHTS).values
        for experiment in (names.SAVED_SIZE, names.SAVED_LOAD, names.SAVED_DIFFERENCE)
    ]
    assert values == [(2.0,), (1.0, 2.0), (0.5,)]
    skipped = {m.variant: m.remark for m in results.skipped() if m.experiment == names.SAVED_LOAD}
    assert skipped == {
        names.SCRIPT: "skipped: does not load in a new process (RuntimeError)",
        names.EXPORT: "skipped: nothing was saved",
        names.AOT: "skipped: nothing was saved",
    }
