"""Each stage's command in a folder that holds its declared deps and no more of the project."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from lab.core.files import write_json
from lab.core.params import read_yaml
from lab.data import datasets, idx, synthetic
from lab.machine.torch_build import may_have_gpus
from lab.tools.profiles import merge
from tests import forked
from tests.helpers import ROOT, files

PIPELINE = read_yaml(ROOT / "dvc.yaml")["stages"]
HEAVY = {
    *("bench_buckets", "bench_compile", "bench_hardware", "bench_training", "parallelism"),
    *("optimizers", "bench_input", "report", "scaling", "together"),
}
LEFT_BESIDE = (".lab/", "data/.gitignore")  # caches, times; what git ignores


@pytest.fixture(scope="session")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Data sets of the true sizes, drawn in a moment: the same 600 look-alikes again and again."""
    root = tmp_path_factory.mktemp("data")
    for half, count in datasets.FASHION_COUNTS.items():
        images, labels = synthetic.fashion(600, seed=count)
        for kind, array in (("images-idx3", images), ("labels-idx1", labels)):
            path = root / datasets.RAW_FOLDER / f"{half}-{kind}-ubyte"
            path.parent.mkdir(parents=True, exist_ok=True)
            repeated = np.concatenate([array] * (count // 600 + 1))[:count]
            path.write_bytes(idx.encode(repeated))
    (root / datasets.AIRFOIL_FILE).parent.mkdir()
    np.savetxt(root / datasets.AIRFOIL_FILE, synthetic.airfoil(0))
    write_json(root / datasets.SOURCE_FILE, {"fashion_mnist": "synthetic", "airfoil": "synthetic"})
    return root


def paths(stage: str, *kinds: str, run: str) -> set[str]:
    """The deps or outs of a stage; of `train` those of a run."""
    entries = [entry for kind in kinds for entry in PIPELINE[stage].get(kind, [])]
    names = [entry if isinstance(entry, str) else next(iter(entry)) for entry in entries]
    return {name.replace("${item.run}", run) for name in names}


def lay_out(folder: Path, stage: str, data: Path) -> None:
    """Put what a stage declares into a folder, with the params of seconds."""
    for name in ("lab/__init__.py", "stages/__init__.py", f"stages/{stage}/__init__.py"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, folder / name)
    for name in paths(stage, "deps", run=""):
        source = data / name.removeprefix("data/") if name.startswith("data/") else ROOT / name
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        if source.is_dir():
            shutil.copytree(source, folder / name, dirs_exist_ok=True)
        elif source.exists():
            shutil.copy(source, folder / name)
    (folder / "params.yaml").write_text(merge("smoke", ROOT / "profiles", ROOT / "params.yaml"))


@pytest.mark.parametrize(
    "stage",
    [
        pytest.param(name, marks=[pytest.mark.slow] if name in HEAVY else [])
        for name in PIPELINE
        if name not in ("fetch", "probe")  # which need a network, and import every stage's params
    ],
)
def test_a_stage_needs_what_it_declares_and_leaves_its_outs(tmp_path, data, stage):
    run = "lenet_2gpu"
    lay_out(tmp_path, stage, data)
    before = files(tmp_path)
    environment = {k: v for k, v in os.environ.items() if k != "LAB_DATA_MIRROR"}
    arguments = [run] if stage == "train" else []
    ended = forked.run(
        f"stages.{stage}", *arguments, cwd=tmp_path, env=environment | {"PYTHONPATH": str(tmp_path)}
    )
    assert ended.returncode == 0, ended.stderr[-2000:]
    outs = paths(stage, "outs", "metrics", "plots", run=run)
    for out in outs:
        assert (tmp_path / out).exists(), f"{out} is declared and was not written"
    left = {
        name
        for name in files(tmp_path) - before
        if not name.startswith(LEFT_BESIDE) and "__pycache__" not in name
    }
    strays = {n for n in left if not any(n == o or n.startswith(f"{o}/") for o in outs)}
    assert not strays, "written and not declared"


@pytest.mark.parametrize("stage", ["probe", "fetch", "landscapes", "claims", "report"])
def test_a_stage_that_needs_no_torch_imports_none(project, stage):
    """Importing torch takes longer than all that the probe does at each `dvc repro`."""
    run_it = "main()" if stage == "probe" else "None"  # the others import what they need on top
    program = f"import sys; from stages.{stage}.__main__ import main; {run_it}; print(*sys.modules)"
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    imported = subprocess.run(
        [sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=True
    ).stdout.split()
    assert "lab.core.process" in imported
    assert "torch" not in imported or (stage == "probe" and may_have_gpus())
