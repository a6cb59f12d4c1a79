"""Each stage's code in a folder that holds its declared deps and no more of the project."""

import os
import shutil
from pathlib import Path

import pytest

from lab.core.params import read_yaml
from lab.machine.torch_build import may_have_gpus
from tests import forked
from tests.helpers import ROOT, python

PIPELINE = read_yaml(ROOT / "dvc.yaml")["stages"]
IMPORTS = """
import importlib, pathlib
for path in sorted(pathlib.Path("stages").rglob("*.py")):
    if path.stem != "lightning_loop":  # whose package is an extra
        importlib.import_module(".".join(path.with_suffix("").parts).removesuffix(".__init__"))
"""


def lay_out(folder: Path, stage: str) -> None:
    """Put what a stage declares of the code into a folder."""
    for name in ("lab/__init__.py", "stages/__init__.py", f"stages/{stage}/__init__.py"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, folder / name)
    for derivation in ("findings.py", "model.py"):  # no deps on purpose
        if (file := ROOT / "stages" / stage / derivation).is_file():
            shutil.copy(file, folder / "stages" / stage)
    for name in PIPELINE[stage]["deps"]:
        if name.split("/")[0] in ("lab", "stages"):
            copy = shutil.copytree if (ROOT / name).is_dir() else shutil.copy
            copy(ROOT / name, folder / name)


@pytest.mark.parametrize(
    "stage",
    [
        name
        for name, stage in PIPELINE.items()
        if "lab" not in stage["deps"] and name != "probe"  # which imports every stage's params
    ],
)
def test_a_stage_imports_no_more_than_it_declares(tmp_path, stage):
    lay_out(tmp_path, stage)
    (tmp_path / "imports.py").write_text(IMPORTS)
    ended = forked.run("imports", cwd=tmp_path, env=os.environ | {"PYTHONPATH": str(tmp_path)})
    assert ended.returncode == 0, ended.stderr[-2000:]


@pytest.mark.parametrize("stage", ["probe", "fetch", "landscapes", "claims", "report"])
def test_a_stage_that_needs_no_torch_imports_none(project, stage):
    """Importing torch takes longer than all that the probe does at each `dvc repro`."""
    run_it = "main()" if stage == "probe" else "None"  # the others import what they need on top
    program = f"import sys; from stages.{stage}.__main__ import main; {run_it}; print(*sys.modules)"
    imported = python("-c", program).stdout.split()
    assert "lab.core.process" in imported
    assert "torch" not in imported or (stage == "probe" and may_have_gpus())
