import shutil
from pathlib import Path

import pytest
import torch

from lab.machine.fresh_process import call_in_subprocess
from stages.bench_compile.measure import params as names
from stages.bench_compile.measure.forms import FILES, mlp
from stages.bench_compile.measure.saved import LOADS, load_all, save

CPU = torch.device("cpu")
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
    found = call_in_subprocess("the saved forms'", load_all, forms, CPU)
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
    assert found[names.EXPORT]["error"]
    assert found[names.SCRIPT]["difference"] <= 1e-5, "the others still count"
