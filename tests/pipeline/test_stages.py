"""Each stage imports in a folder that holds only its declared deps."""

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
import importlib, multiprocessing, os, pathlib, sys

def import_all(folder):
    os.chdir(folder)
    sys.path.insert(0, folder)
    for path in sorted(pathlib.Path("stages").rglob("*.py")):
        if path.stem != "lightning_loop":  # whose package is an extra
            importlib.import_module(".".join(path.with_suffix("").parts).removesuffix(".__init__"))

for folder in sys.argv[1:]:  # in a process of its own, which has nothing of another's
    process = multiprocessing.get_context("fork").Process(target=import_all, args=[folder])
    process.start()
    process.join()
    if process.exitcode:
        print(folder)
"""


def lay_out(folder: Path, stage: str) -> None:
    """Copy the code that a stage declares as deps into a folder."""
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


def test_a_stage_imports_no_more_than_it_declares(tmp_path):
    folders = [
        tmp_path / name
        for name, stage in PIPELINE.items()
        if "lab" not in stage["deps"] and name != "probe"  # it imports every stage's params
    ]
    for folder in folders:
        lay_out(folder, folder.name)
    (tmp_path / "imports.py").write_text(IMPORTS)
    environment = os.environ | {"PYTHONPATH": str(tmp_path)}
    ended = forked.run("imports", *map(str, folders), cwd=tmp_path, env=environment)
    assert (ended.returncode, ended.stdout) == (0, ""), ended.stderr[-2000:]


@pytest.mark.parametrize("stage", ["probe", "fetch", "landscapes", "claims", "report"])
def test_a_stage_that_needs_no_torch_does_not_import_it(project, stage):
    """Importing torch takes longer than everything that the probe does at each `dvc repro`."""
    run_it = "main()" if stage == "probe" else "None"  # the others import what they need at the top
    program = f"import sys; from stages.{stage}.__main__ import main; {run_it}; print(*sys.modules)"
    imported = python("-c", program).stdout.split()
    assert "lab.core.process" in imported
    assert "torch" not in imported or (stage == "probe" and may_have_gpus())
