"""The front door: tasks, the commands behind them, and how they end."""

import json
import os
import shutil
import subprocess
import sys

import pytest
from invoke.collection import Collection
from invoke.context import Context
from invoke.exceptions import Exit

import tasks
from lab.core.process import ERROR_FILE
from tests.helpers import ROOT, committed_params, errors

C = Context()
TASKS = Collection.from_module(tasks).tasks


@pytest.fixture
def commands(monkeypatch):
    """The commands that tasks would run."""
    found = []
    monkeypatch.setattr(tasks, "_run", lambda command, echo=True, plan=False: found.append(command))
    return found


@pytest.mark.parametrize("name", ["train", "predict", "profile", "snapshot", "record"])
def test_help_is_shown_where_invoke_expects_an_argument(name):
    shown = subprocess.run(
        [sys.executable, "-m", "invoke", name, "--help"], cwd=ROOT, capture_output=True, text=True
    )
    assert TASKS[name].__doc__ in shown.stdout
    assert "Options:" in shown.stdout


def test_a_command_runs_on_the_tasks_interpreter_and_its_code_is_passed_on(capfd):
    tasks._run("python -c 'import sys; print(sys.executable)'")
    assert capfd.readouterr().out.splitlines()[-1] == sys.executable
    with pytest.raises(Exit) as end:
        tasks._run("python -c 'raise SystemExit(3)'")
    assert end.value.code == 3


def test_repro_ends_with_the_failed_stages_own_code(monkeypatch, tmp_path):
    monkeypatch.setattr(tasks, "ROOT", tmp_path)
    monkeypatch.chdir(tmp_path)

    def dvc(command, echo=True, plan=False):
        if not command.startswith("dvc"):
            return
        (tmp_path / ERROR_FILE).parent.mkdir()
        (tmp_path / ERROR_FILE).write_text(json.dumps({"exit_code": 3, "message": "no data"}))
        raise Exit(code=255)

    monkeypatch.setattr(tasks, "_run", dvc)
    with pytest.raises(Exit) as end:
        tasks.repro(C)
    assert end.value.code == 3


def test_the_doctor_looks_where_dvc_itself_failed(monkeypatch, tmp_path):
    monkeypatch.setattr(tasks, "ROOT", tmp_path)
    monkeypatch.chdir(tmp_path)
    ran = []

    def run(command, echo=True, plan=False):
        ran.append(command)
        if command.startswith("dvc"):
            raise Exit(code=255)

    monkeypatch.setattr(tasks, "_run", run)
    with pytest.raises(Exit) as end:
        tasks.train(C, "a")
    assert end.value.code == 4
    assert ran[-1].endswith("lab.tools.doctor")


@pytest.mark.parametrize(
    "call",
    [
        tasks.repro,
        tasks.claims,
        tasks.report,
        tasks.remeasure,
        tasks.retest,
        lambda c: tasks.train(c, "a"),
    ],
)
def test_what_cannot_be_deleted_ends_with_a_line(monkeypatch, tmp_path, capsys, call):
    """As in a checkout that is read-only or another user's: here a folder is in its place."""
    monkeypatch.setattr(tasks, "ROOT", tmp_path)
    monkeypatch.setattr(tasks, "PLAN_FILE", tmp_path / ".lab" / "plan.json")
    for name in (".lab/plan.json", ERROR_FILE):
        (tmp_path / name).mkdir(parents=True)
    with pytest.raises(Exit) as end:
        call(C)
    assert end.value.code == 4
    [line] = capsys.readouterr().err.splitlines()
    assert line.startswith(f"ERROR: {tmp_path}/.lab/")


def test_the_doctor_looks_at_the_environment_as_it_is(monkeypatch, capfd):
    """DVC and its stages get one that they can run in."""
    monkeypatch.setenv("SHELL", "/nowhere/fish")
    monkeypatch.setenv("PYTHONWARNINGS", "error")
    program = '-c \'import os; print(os.environ["SHELL"], os.environ.get("PYTHONWARNINGS"))\''
    tasks._run(f"python {program}", echo=False)
    monkeypatch.setattr(tasks, "DOCTOR", "python")
    tasks._run(f"python {program}", echo=False)
    assert capfd.readouterr().out.splitlines() == ["/bin/sh None", "/nowhere/fish error"]


@pytest.fixture
def two_stages(tmp_path):
    """A project of two stages, one after the other."""
    for name in ("tasks.py", ".dvcignore"):
        shutil.copy(ROOT / name, tmp_path)
    shutil.copytree(ROOT / ".dvc", tmp_path / ".dvc", ignore=shutil.ignore_patterns("tmp", "cache"))
    (tmp_path / "dvc.yaml").write_text(
        "stages:\n"
        "  one: {cmd: echo 1 > a/one, outs: [{a/one: {cache: false}}]}\n"
        "  two: {cmd: cp a/one two, deps: [a/one], outs: [{two: {cache: false}}]}\n"
    )
    (tmp_path / "a").mkdir()
    (tmp_path / "params.yaml").write_text(committed_params())
    subprocess.run(["git", "init", "-q"], cwd=tmp_path, check=True)
    return tmp_path


NAMELESS = ["unshare", "--user", "--map-user=54321"]  # a user of a container, in no list of users
needs_user = pytest.mark.skipif(
    not shutil.which("unshare")
    or subprocess.run([*NAMELESS, "true"], capture_output=True, check=False).returncode != 0,
    reason="no user without a name may be made here",
)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("before", "environment"),
    [
        pytest.param(NAMELESS, {}, marks=needs_user),
        ([], {"PYTHONWARNINGS": "error"}),
        ([], {"SHELL": "/bin/false"}),
        ([], {"SHELL": "/nowhere/fish"}),
    ],
    ids=["no name", "warnings", "a shell that runs nothing", "no shell"],
)
def test_an_environment_in_which_dvc_cannot_run_is_made_up_for(two_stages, before, environment):
    nobody = dict.fromkeys(("LOGNAME", "USER", "LNAME", "USERNAME"), "")
    ended = subprocess.run(
        [*before, sys.executable, "-m", "invoke", "repro"],
        cwd=two_stages,
        env=os.environ | nobody | {"PYTHONPATH": str(ROOT)} | environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert (two_stages / "two").read_text() == "1\n"


@pytest.mark.parametrize("stage", [{}, {"DVC_STAGE": "probe"}])
def test_another_python_on_path_is_said_in_a_line(stage):
    """One without the packages, as an environment that is not activated leaves it to DVC."""
    ended = subprocess.run(
        [sys.executable, "-S", "-m", "stages.probe"],
        cwd=ROOT,
        env={name: value for name, value in os.environ.items() if name != "PYTHONPATH"} | stage,
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode == 4
    [line] = errors(ended)
    assert sys.executable in line and "activate" in line
