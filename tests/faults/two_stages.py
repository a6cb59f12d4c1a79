"""A project of two stages in a repository of its own, which the real DVC ran once.

`fetch` copies small look-alikes, `landscapes` is the lab's own with few draws. DVC takes most of a
second for a call, so tests try several things with each, and share what the first run made.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from filelock import FileLock

from lab.core.files import write_json
from lab.data import datasets, synthetic
from tests.helpers import ROOT, edit_params, write_data

PIPELINE = """\
stages:
  fetch:
    cmd: mkdir -p data && cp -R made/. data
    outs: [data/FashionMNIST, data/airfoil, data/source.json]
  landscapes:
    cmd: python -m stages.landscapes
    deps: [data/airfoil, data/source.json]
    params: [seed, landscapes]
    outs: [{reports/landscapes/rows.csv: {cache: false}}]
    metrics: [{reports/landscapes/metrics.json: {cache: false}}]
"""
TABLE = Path("data") / datasets.AIRFOIL_FILE
METRICS = Path("reports/landscapes/metrics.json")


def environment(**more: str) -> dict[str, str]:
    """What a command of the project needs, wherever it is."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    return os.environ | {"PATH": path, "PYTHONPATH": str(ROOT)} | more


def run(*words: str, cwd: Path, **more: str) -> subprocess.CompletedProcess[str]:
    """Run a command in a copy of the project, to its end."""
    return subprocess.run(
        words,
        cwd=cwd,
        env=environment(**more),
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )


def dvc(*words: str, cwd: Path, **more: str) -> subprocess.CompletedProcess[str]:
    """Run the real DVC."""
    return run(sys.executable, "-m", "dvc", *words, cwd=cwd, **more)


def git(*words: str, cwd: Path) -> str:
    """What git answers; it must."""
    identity = ["-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false"]
    result = run("git", *identity, *words, cwd=cwd)
    assert result.returncode == 0, result.stderr
    return result.stdout


def shared(root: Path) -> Path:
    """The project as its first run left it, made once for all test processes: copy it."""
    folder = root / "two_stages"
    with FileLock(root / "two_stages.lock"):
        if not folder.exists():
            _make(root / "two_stages_unfinished")
            (root / "two_stages_unfinished").rename(folder)
    return folder


def _make(folder: Path) -> None:
    folder.mkdir()
    names = (".dvcignore", ".gitignore", "pyproject.toml", "profiles/laptop.yaml")
    for name in (*names, ".dvc/config", ".dvc/.gitignore"):
        (folder / name).parent.mkdir(exist_ok=True)
        shutil.copy(ROOT / name, folder / name)
    (folder / "dvc.yaml").write_text(PIPELINE)
    (folder / "empty").touch()  # as it should be
    shutil.copy(ROOT / "profiles" / "laptop.yaml", folder / "params.yaml")
    little = {"landscapes.num_draws": 100, "landscapes.num_seeds": 2}
    edit_params(little, path=folder / "params.yaml")
    made = folder / "made"
    write_data(made)
    (made / datasets.AIRFOIL_FILE).write_text(
        "".join("\t".join(f"{value:.6g}" for value in row) + "\n" for row in synthetic.airfoil(0))
    )
    files = [path for path in made.rglob("*") if path.is_file() and path.suffix != ".json"]
    hashes = {
        path.relative_to(made).as_posix(): datasets.sha256(path.read_bytes()) for path in files
    }
    source = {"fashion_mnist": "original", "airfoil": "original", "sha256": hashes}
    write_json(made / datasets.SOURCE_FILE, source)
    git("init", "-q", cwd=folder)
    result = dvc("repro", cwd=folder)
    assert result.returncode == 0, result.stderr
    git("add", "-A", cwd=folder)
    git("commit", "-qm", "ran", cwd=folder)


@pytest.fixture
def copy(
    tmp_path: Path, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> Path:
    """A copy of it, as the working directory."""
    base = tmp_path_factory.getbasetemp()
    folder = tmp_path / "a copy"  # with a blank in its path
    made = shared(base.parent if "PYTEST_XDIST_WORKER" in os.environ else base)
    shutil.copytree(made, folder, symlinks=True)
    for name, value in environment().items():
        monkeypatch.setenv(name, value)
    # a file of the test's own: `git config --global` replaces whatever this names
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(tmp_path / "gitconfig"))
    monkeypatch.delenv("LAB_DATA_MIRROR", raising=False)
    monkeypatch.chdir(folder)
    return folder
