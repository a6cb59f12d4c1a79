"""The invoke tasks, run as a user runs them."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.helpers import ROOT, edit_params, small_run

TASKS = {
    "test",
    "faults",
    "check",
    "repro",
    "smoke",
    "train",
    "predict",
    "profile",
    "remeasure",
    "retest",
    "report",
    "compare",
    "record",
    "pack",
    "snapshot",
    "doctor",
    "clean",
}


def invoke(*words: str, cwd: Path = ROOT) -> subprocess.CompletedProcess[str]:
    """Run invoke with a PATH that has no virtual environment on it."""
    environment = os.environ | {"PATH": "/usr/bin:/bin"}
    command = [sys.executable, "-m", "invoke", *words]
    return subprocess.run(
        command, cwd=cwd, env=environment, capture_output=True, text=True, check=False, timeout=300
    )


@pytest.fixture(scope="session")
def fresh(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The project's code in a git repository of its own, with DVC, and nothing run yet."""
    folder = tmp_path_factory.mktemp("project")
    for name in ("tasks.py", "dvc.yaml", ".dvcignore", ".gitignore"):
        shutil.copy(ROOT / name, folder)
    for name in ("lab", "stages", "profiles"):
        shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(folder / "profiles" / "laptop.yaml", folder / "params.yaml")
    subprocess.run(["git", "init", "-q"], cwd=folder, check=True)
    subprocess.run([sys.executable, "-m", "dvc", "init", "-q"], cwd=folder, check=True)
    return folder


@pytest.fixture
def copy(fresh: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of it, as the working directory."""
    folder = tmp_path / "copy"
    shutil.copytree(fresh, folder)
    monkeypatch.chdir(folder)
    monkeypatch.delenv("LAB_DATA_MIRROR", raising=False)
    return folder


def test_every_task_is_listed_with_a_line_of_help():
    lines = invoke("--list").stdout.splitlines()
    tasks = [line for line in lines if line.startswith("  ") and line[2] != " "]
    listed = {line.split()[0]: line.split()[1:] for line in tasks}
    assert set(listed) == TASKS
    assert all(listed.values())


def test_every_option_of_a_task_has_help():
    sys.path.insert(0, str(ROOT))
    import tasks

    assert set(tasks.namespace.tasks) == TASKS
    for name, task in tasks.namespace.tasks.items():
        first, *rest = (task.__doc__ or "").splitlines()
        assert first.endswith("."), f"{name}: a line of help"
        assert not rest or not rest[0].strip(), f"{name}: `invoke --list` shows one line"
        for option in task.get_arguments():
            assert option.help, f"{name} --{option.name}"


def test_a_task_prints_its_command_and_passes_the_exit_code_on(copy):
    result = invoke("profile", "nope", cwd=copy)
    assert result.returncode == 2
    assert "python -m lab.tools.profiles nope" in result.stdout
    assert "ERROR: no profile 'nope'" in result.stderr


def test_predict_finds_the_picture_from_where_it_is_called(copy):
    (copy / "a picture.png").write_bytes(b"none")
    result = invoke("predict", "a picture.png", cwd=copy)
    assert result.returncode == 3
    assert f"ERROR: {copy}/a picture.png: not a picture" in result.stderr


def test_words_from_the_user_are_not_run_by_a_shell(copy):
    result = invoke("profile", "x; touch pwned", cwd=copy)
    assert result.returncode == 2
    assert not (copy / "pwned").exists()


def test_repro_ends_with_the_stages_own_exit_code(copy):
    edit_params({"train.runs.lenet_1gpu.num_gpus": 0, "seed": -1})
    result = invoke("repro", cwd=copy)
    assert result.returncode == 2
    assert "dvc repro" in result.stdout
    assert result.stderr.count("ERROR: params.yaml: ") == 2
    assert not (copy / "reports").exists()
    assert not (copy / "data").exists()


def test_repro_explains_params_over_which_dvc_itself_stumbles(copy):
    (copy / "params.yaml").write_text("train:\n  runs: {a: 1\n")
    result = invoke("repro", cwd=copy)
    assert result.returncode == 2
    assert "ERROR: params.yaml, line" in result.stderr


def test_a_run_whose_name_is_a_command_is_refused_before_it_reaches_a_shell(copy):
    run = small_run(num_epochs=1)
    edit_params({"train.runs.a;touch pwned": run})
    result = invoke("repro", cwd=copy)
    assert result.returncode == 2
    assert not (copy / "pwned").exists()


def test_clean_removes_caches_and_nothing_else(copy):
    for path in (
        ".lab/downloads/a.gz",
        "lab/__pycache__/a.pyc",
        "data/kept",
        "models/kept.pt",
        ".venv/bin/python",
    ):
        (copy / path).parent.mkdir(parents=True, exist_ok=True)
        (copy / path).touch()
    result = invoke("clean", cwd=copy)
    assert result.returncode == 0, result.stderr
    assert not (copy / ".lab").exists()
    assert not (copy / "lab" / "__pycache__").exists()
    for path in (
        "data/kept",
        "models/kept.pt",
        ".venv/bin/python",
        "lab/data/datasets.py",
        "params.yaml",
    ):
        assert (copy / path).exists()
