"""The pipeline through the real dvc, in a clone: a run and its repetition, a changed rate."""

import gzip
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from lab.claims.book_order import BOOK_ORDER
from lab.core.params import read_yaml
from lab.data.datasets import RAW_FOLDER, dataset_name
from lab.data.sources import FASHION_FILES
from tests.helpers import COMMITTED, ROOT, edit_params

MIRROR = os.environ.get("LAB_DATA_MIRROR")
MEASURED = [stage for stage in BOOK_ORDER if stage != "train"]
IDENTITY = {  # of commits, by hand and of `dvc exp run`
    f"GIT_{who}_{what}": value
    for who in ("AUTHOR", "COMMITTER")
    for what, value in (("NAME", "test"), ("EMAIL", "test@example.org"))
}
RUNS = tuple(read_yaml(ROOT / "params.yaml")["train"]["runs"])


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    """The working tree with committed results, committed, in a folder with a space in its name."""
    if not (ROOT / ".git").exists() or shutil.which("git") is None:
        pytest.skip("needs git and a checkout")
    folder = tmp_path / "a clone"
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    for name in filter(None, listed.stdout.split("\0")):
        if (ROOT / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            result = COMMITTED / name
            shutil.copy(result if result.is_file() else ROOT / name, folder / name)
    if not MIRROR:  # no source at all, rather than whatever network there may be
        nowhere = {"data.mirrors.fashion_mnist": [], "data.mirrors.airfoil": []}
        edit_params(nowhere, path=folder / "params.yaml")
    commit(folder, "init")
    return folder


def commit(folder: Path, *first: str) -> None:
    for words in (
        [*first, "-q"] if first else [],
        ["add", "-A"],
        ["-c", "commit.gpgsign=false", "commit", "-qm", "state"],
    ):
        if words:
            subprocess.run(["git", *words], cwd=folder, check=True, env=os.environ | IDENTITY)


def command(folder: Path, *words: str) -> str:
    """Run a module of this interpreter in the clone and return what it prints.

    In the activated environment is `dvc` alone, which needs it to run stages.
    """
    activated = f"{Path(sys.executable).parent}:" if words[0] == "dvc" else ""
    environment = os.environ | IDENTITY | {"PATH": f"{activated}/usr/bin:/bin"}
    if MIRROR:
        environment["LAB_DATA_MIRROR"] = (
            MIRROR if "://" in MIRROR else str((ROOT / MIRROR).resolve())
        )
    result = subprocess.run(
        [sys.executable, "-m", *words],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=1800,
    )
    assert result.returncode == 0, result.stdout + result.stderr
    return result.stdout


def stages_run(output: str) -> list[str]:
    return re.findall(r"Running stage '([^']+)'", output)


def foretold(folder: Path) -> list[str]:
    """The stages that the last `invoke repro` or `train` said would run."""
    return list(json.loads((folder / ".lab" / "plan.json").read_text())["seconds"])


@pytest.mark.slow
def test_a_run_is_trained_once_and_again_where_its_rate_changed(clone):
    command(clone, "invoke", "profile", "smoke")
    first = stages_run(command(clone, "invoke", "train", "lenet_1gpu"))
    assert sorted(first) == ["fetch", "probe", "report", "train@lenet_1gpu"]
    assert sorted(foretold(clone)) == ["fetch", "probe", "train@lenet_1gpu"]
    assert stages_run(command(clone, "invoke", "train", "lenet_1gpu")) == ["probe"]
    assert foretold(clone) == ["probe"]
    commit(clone)
    change = ("-S", "+train.runs.lenet_1gpu.lr=0.05", "train@lenet_1gpu")
    assert stages_run(command(clone, "dvc", "exp", "run", *change)) == ["probe", "train@lenet_1gpu"]
    changed = json.loads(command(clone, "dvc", "metrics", "diff", "--json"))
    assert set(changed) == {"reports/train/lenet_1gpu/metrics.json"}
    loss = changed["reports/train/lenet_1gpu/metrics.json"]["train_loss"]
    assert loss["old"] != loss["new"]
    compared = command(clone, "invoke", "compare")
    assert "train.runs.lenet_1gpu.lr: None -> 0.05" in compared, "which was the default's"
    assert re.search(r"train_loss .* no interval", compared)
    every = command(clone, "invoke", "compare", "--all")
    assert re.search(r"train/lenet_1gpu +lr +0\.2 +0\.05 +changed", every)

    _, keys, before, after = command(clone, "invoke", "experiments").splitlines()[-4:]
    rates = keys.split().index("lr") - len(keys.split())  # the commit has no state
    assert (before.split()[rates], after.split()[rates]) == ("–", "0.05"), "which was no entry"
    command(clone, "dvc", "plots", "diff", "--out", "dvc_plots")
    curves = (clone / "dvc_plots" / "index.html").read_text()
    assert set(re.findall(r'id = "reports_train_(\w+)_rows_csv"', curves)) == set(RUNS)
    assert set(re.findall(r'"rev": "(\w+)"', curves)) == {"HEAD", "workspace"}


@pytest.mark.slow
def test_plain_dvc_keeps_what_a_user_put_in_the_place_of_outputs(clone):
    others = [clone / "data/airfoil/airfoil_self_noise.dat", clone / "models/lenet_1gpu.pt"]
    beside = clone / "data/FashionMNIST/raw/my_notes.txt"
    for path in (*others, beside):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("mine")
    environment = os.environ | {"PATH": f"{Path(sys.executable).parent}:/usr/bin:/bin"}
    for target in ("fetch", "train@lenet_1gpu"):
        words = [sys.executable, "-m", "dvc", "repro", "--force", "--single-item", target]
        ended = subprocess.run(words, cwd=clone, env=environment, capture_output=True, text=True)
        assert ended.returncode and "ERROR: " in ended.stderr
        assert [path.read_text() for path in (*others, beside)] == ["mine"] * 3
    for path in others:
        path.unlink()
    command(clone, "dvc", "repro", "fetch")
    assert beside.read_text() == "mine"


@pytest.mark.slow
@pytest.mark.skipif(not MIRROR or "://" in MIRROR, reason="needs the data in a folder")
def test_plain_dvc_uses_a_users_published_files_and_leaves_them(clone):
    raw = clone / "data" / RAW_FOLDER
    raw.mkdir(parents=True)
    for file in FASHION_FILES:
        packed = Path(shutil.copy(ROOT / MIRROR / file.folders[0] / file.name, raw))
        (raw / file.path.name).write_bytes(gzip.decompress(packed.read_bytes()))
    before = {path: path.read_bytes() for path in raw.iterdir()}
    for words in (
        ("exp", "run", "-S", "data.timeout_s=7", "fetch"),  # which checks out with force first
        ("repro", "--force", "fetch"),
    ):
        command(clone, "dvc", *words)
        assert {path: path.read_bytes() for path in raw.iterdir()} == before
        assert dataset_name(clone / "data") == "fashion-mnist"
    assert "data/FashionMNIST" not in command(clone, "dvc", "status"), (
        "the hashes are the committed"
    )


@pytest.mark.slow
def test_the_whole_pipeline_runs_and_repeats_for_nothing(clone):
    for folder in ("data", "models"):
        assert [path.name for path in (clone / folder).iterdir()] == [".gitignore"], (
            "no data travel with the code"
        )

    first = command(clone, "invoke", "repro", "--profile", "smoke")
    assert stages_run(first)[0] == "probe", "which checks the params before any work starts"
    assert sorted(stages_run(first)) == sorted(
        [*MEASURED, "probe", "fetch", *(f"train@{name}" for name in RUNS), "claims", "report"]
    )
    assert sorted(stages_run(first)) == sorted(foretold(clone))
    assert stages_run(command(clone, "invoke", "repro")) == foretold(clone) == ["probe"]
    assert json.loads(command(clone, "dvc", "status", "--json")) == {"probe": ["always changed"]}

    dataset = "fashion-mnist" if MIRROR else "synthetic"
    for path in (
        "fetch",
        "optimizers",
        "schedules",
        "bench_input",
        *(f"train/{name}" for name in RUNS),
    ):
        assert (
            json.loads((clone / "reports" / path / "conditions.json").read_text())["dataset"]
            == dataset
        )
    assert ("Synthetic data" in (clone / "reports" / "index.html").read_text()) == (not MIRROR)

    command(clone, "dvc", "plots", "show", "reports/figures", "--out", "dvc_plots")
    shown = (clone / "dvc_plots" / "index.html").read_text()
    assert "training_curves" in shown
    assert "http" not in shown, "it asks nothing of a network"
