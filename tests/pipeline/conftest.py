"""Clones of the project, and one of them after a first run."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from filelock import FileLock

from lab.core.params import read_yaml
from tests import forked
from tests.helpers import COMMITTED, ROOT, edit_params

MIRROR = os.environ.get("LAB_DATA_MIRROR")
IDENTITY = {  # of commits, including those of `dvc exp run`
    f"GIT_{who}_{what}": value
    for who in ("AUTHOR", "COMMITTER")
    for what, value in (("NAME", "test"), ("EMAIL", "test@example.org"))
}
RUNS = ("lenet_1gpu", "lenet_2gpu", "record_83", "record_90", "record_92")  # no ResNet: it is slow


def environment(activated: bool = True) -> dict[str, str]:
    """Return a command's environment variables, with the data's mirror; no browser opens.

    If activated, PATH has this Python's folder, and `python`, `invoke` and `dvc` are forked.
    """
    own = f"{forked.on_path()}:{Path(sys.executable).parent}:" if activated else ""
    found = os.environ | IDENTITY | {"PATH": f"{own}/usr/bin:/bin", "BROWSER": "true"}
    if MIRROR and "://" not in MIRROR:
        found["LAB_DATA_MIRROR"] = str((ROOT / MIRROR).resolve())
    return found


def command(folder: Path, *words: str) -> str:
    """Run a module of this interpreter in a project and return what it prints.

    Only `dvc` gets the activated environment, which it needs to run stages.
    """
    return shell(
        folder, str(forked.on_path() / "python"), "-m", *words, activated=words[0] == "dvc"
    )


def shell(folder: Path, *words: str, activated: bool = True) -> str:
    """Run a command in a project, assert that it succeeds and return what it prints."""
    ended = subprocess.run(
        words, cwd=folder, env=environment(activated), capture_output=True, text=True, check=False
    )
    assert ended.returncode == 0, f"{words}\n{ended.stdout}{ended.stderr}"
    return ended.stdout


def commit(folder: Path) -> None:
    shell(folder, "git", "add", "-A")
    shell(folder, "git", "-c", "commit.gpgsign=false", "commit", "-qm", "state")


def clone_to(folder: Path) -> None:
    """Copy the working tree, with the committed results, into a folder and commit it there."""
    if not (ROOT / ".git").exists() or shutil.which("git") is None:
        pytest.skip("needs git and a checkout")
    listed = shell(ROOT, "git", "ls-files", "-z", "--cached", "--others", "--exclude-standard")
    for name in filter(None, listed.split("\0")):
        if (ROOT / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            result = COMMITTED / name
            shutil.copy(result if result.is_file() else ROOT / name, folder / name)
    if not MIRROR:  # no source at all, whether or not there is a network
        nowhere = {"data.mirrors.fashion_mnist": [], "data.mirrors.airfoil": []}
        edit_params(nowhere, path=folder / "params.yaml")
    shell(folder, "git", "init", "-q")
    commit(folder)


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    """A clone in a folder with a space in its name."""
    folder = tmp_path / "a clone"
    clone_to(folder)
    return folder


@pytest.fixture(scope="session")
def first_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A clone after its first run, with the profile `smoke`; made once for all workers.

    The run's output is in "first run.txt" next to it. Its results are not committed.
    """
    base = tmp_path_factory.getbasetemp()
    folder = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "first run"
    with FileLock(folder.with_suffix(".lock")):
        if not folder.exists():
            made = tmp_path_factory.mktemp("making") / "clone"
            clone_to(made)
            others = read_yaml(made / "params.yaml")["train"]["runs"].keys() - set(RUNS)
            without = {f"train.runs.{run}": None for run in others}  # null removes a key
            edit_params(without, path=made / "profiles" / "smoke.yaml")
            for run in others:
                shutil.rmtree(made / "reports" / "train" / run)
            printed = command(made, "invoke", "smoke")
            folder.with_suffix(".txt").write_text(printed)
            made.rename(folder)
    return folder


@pytest.fixture
def reproduced(first_run: Path, tmp_path: Path) -> Path:
    """A copy of `first_run` to change, with its results committed."""
    folder = tmp_path / "a project"
    shutil.copytree(first_run, folder, symlinks=True)
    commit(folder)
    return folder
