import shutil
from pathlib import Path

import pytest
import torch

from lab.results.reasons import Reason
from stages.bench_compile.measure import names
from stages.bench_compile.measure.forms import FILES, mlp, of_each
from stages.bench_compile.measure.saved import LOADS, load_anew, save

CPU = torch.device("cpu")
pytestmark = pytest.mark.filterwarnings(
    "ignore:.*torch.jit:DeprecationWarning", "ignore:.*torch.jit:FutureWarning"
)


@pytest.fixture(scope="module")
def forms(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with every form that needs no compiler, the weights and the example."""
    folder = tmp_path_factory.mktemp("saved")
    save(mlp(0), torch.randn(5, 512), folder)
    return folder


@pytest.mark.slow
def test_saved_forms_give_the_same_outputs_in_a_new_process(forms):
    assert load_anew(names.AOT, forms, CPU) == Reason("failed", "not saved")
    names_there = [name for name in FILES if name != names.AOT]
    for name, form in of_each(names_there, load_anew, forms, CPU).items():
        assert form["difference"] <= 1e-5, name
        assert form["bytes"] > 4 * 164_000, "all parameters are in the file"
        assert len(form["load_s"]) == LOADS


@pytest.mark.slow
def test_a_changed_file_is_noticed_and_a_damaged_one_reported(forms, tmp_path):
    folder = tmp_path / "changed"
    shutil.copytree(forms, folder)
    torch.save(mlp(1).state_dict(), folder / FILES[names.WEIGHTS])
    (folder / FILES[names.EXPORT]).write_bytes(b"nonsense")
    assert load_anew(names.WEIGHTS, folder, CPU)["difference"] > 1e-2
    assert load_anew(names.EXPORT, folder, CPU).code == "failed"
    assert load_anew(names.SCRIPT, folder, CPU)["difference"] <= 1e-5
