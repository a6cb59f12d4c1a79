"""Tasks: what they run, and how they end."""

import io
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from invoke.collection import Collection
from invoke.context import Context
from invoke.exceptions import Exit, UnexpectedExit

import tasks
from lab.core.files import write_json
from lab.core.process import ERROR_FILE
from lab.tools import forecast, pipeline
from tests import forked
from tests.helpers import ROOT, committed_params, errors, python

C = Context()
TASKS = Collection.from_module(tasks).tasks


@pytest.mark.parametrize("name", [name for name, task in TASKS.items() if task.positional])
def test_help_is_shown_where_invoke_expects_an_argument(name):
    shown = forked.run("invoke", name, "--help", cwd=ROOT).stdout
    assert TASKS[name].__doc__ in shown
    assert "Options:" in shown


def test_a_task_runs_programs_on_its_interpreter_and_passes_on_the_exit_code(monkeypatch, capsys):
    monkeypatch.chdir(ROOT)
    monkeypatch.setattr(sys, "stdin", io.StringIO())
    tasks._run(C, "python -c 'import sys; print(sys.executable)'")
    used = Path(capsys.readouterr().out.splitlines()[-1])  # perhaps under a different name
    assert used.parent == Path(sys.executable).parent
    assert used.samefile(sys.executable)
    with pytest.raises(UnexpectedExit) as end:
        tasks._run(C, "python -c 'raise SystemExit(3)'")
    assert end.value.result.exited == 3


def test_a_failing_check_does_not_keep_the_others_from_running(monkeypatch):
    codes = [0, 3, 0, 2, *[0] * len(tasks.CHECKS[4:])]
    left = iter(codes)
    monkeypatch.setattr(tasks, "_run", lambda c, command, warn: next(left))
    with pytest.raises(Exit) as end:
        tasks.check(C)
    assert end.value.code == 3
    assert [name in end.value.message for name in ("ruff check", "mypy")] == [True, False]
    assert list(left) == []


@pytest.fixture
def failing_dvc(monkeypatch, tmp_path):
    """Make DVC end with an exit code, and a stage with its own if it is given."""

    def fail(code, stages_code=0):
        def dvc(*words):
            if stages_code:
                write_json(ERROR_FILE, {"exit_code": stages_code, "message": "no data"})
            return code

        monkeypatch.setattr(pipeline, "_dvc", dvc)

    monkeypatch.setattr(forecast, "foretell", lambda targets, force: forecast.Plan((), False))
    monkeypatch.setattr(tasks, "ROOT", tmp_path)
    monkeypatch.chdir(tmp_path)
    return fail


@pytest.mark.parametrize(
    ("code", "stages_code", "ends"), [(255, 3, 3), (141, 0, 141), (137, 3, 137)]
)
def test_repro_ends_with_the_failed_stages_exit_code_or_the_signals(
    failing_dvc, code, stages_code, ends
):
    failing_dvc(code, stages_code)
    with pytest.raises(Exit) as end:
        tasks.repro(C)
    assert end.value.code == ends


@pytest.mark.parametrize("call", [tasks.repro, tasks.report])
def test_a_file_that_cannot_be_deleted_is_reported_in_one_line(monkeypatch, tmp_path, capsys, call):
    """As in a checkout that is read-only or another user's; here a folder has the file's name."""
    monkeypatch.setattr(tasks, "ROOT", tmp_path)
    monkeypatch.chdir(tmp_path)
    ERROR_FILE.mkdir(parents=True)
    with pytest.raises(Exit) as end:
        call(C)
    assert end.value.code == 4
    [line] = capsys.readouterr().err.splitlines()
    assert line.startswith("ERROR: .lab/")


def test_if_dvc_itself_fails_the_doctor_runs_in_the_same_environment(failing_dvc, monkeypatch):
    """DVC, its stages and this doctor get one that works; `invoke doctor` gets the user's."""
    monkeypatch.setenv("SHELL", "/nowhere/fish")
    monkeypatch.setenv("PYTHONWARNINGS", "error")
    seen = []

    def look(*_, **__):
        seen.append((os.environ["SHELL"], os.environ.get("PYTHONWARNINGS")))
        return 0

    monkeypatch.setattr(tasks, "diagnose", look)
    tasks.doctor(C)
    tasks._do(C, look)
    failing_dvc(255)
    with pytest.raises(Exit) as end:
        tasks.train(C, "a")
    assert end.value.code == 4
    assert seen == [("/nowhere/fish", "error"), ("/bin/sh", None), ("/bin/sh", None)]


def test_a_picture_is_looked_up_in_the_users_folder():
    """The task itself works in the project's folder."""
    here = ROOT / "tests" / "pipeline"
    ended = forked.run("invoke", "predict", "none.png", cwd=here)
    assert ended.returncode == 3
    [line] = errors(ended)
    assert str(here / "none.png") in line


@pytest.fixture
def two_stages(tmp_path):
    """A project of two stages, the second of which depends on the first."""
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


NAMELESS = ["unshare", "--user", "--map-user=54321"]  # as in a container: in no list of users
needs_user = pytest.mark.skipif(
    not shutil.which("unshare")
    or subprocess.run([*NAMELESS, "true"], capture_output=True, check=False).returncode != 0,
    reason="no user without a name may be made here",
)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("through", "environment"),
    [
        pytest.param(NAMELESS, {}, marks=needs_user),
        ([], {"PYTHONWARNINGS": "e::UserWarning", "SHELL": "/bin/false"}),
        ([], {"SHELL": "/nowhere/fish"}),
    ],
    ids=["no name", "warnings and a shell that runs nothing", "no shell"],
)
def test_repro_works_in_an_environment_in_which_dvc_cannot_run(two_stages, through, environment):
    nobody = dict.fromkeys(("LOGNAME", "USER", "LNAME", "USERNAME"), "")
    invoke = ("-m", "invoke", "repro")
    ended = python(*invoke, through=through, cwd=two_stages, **nobody, **environment)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert (two_stages / "two").read_text() == "1\n"


KILLED = """\
import os, signal, sys
from lab.core.process import run
sys.exit(run(lambda: os.kill(os.getpid(), signal.SIGKILL)))
"""


@pytest.mark.slow
def test_a_killed_stage_is_reported_as_killed(two_stages):
    (two_stages / "killed.py").write_text(KILLED)
    stage = {"cmd": "python killed.py", "deps": ["killed.py"]}
    (two_stages / "dvc.yaml").write_text(json.dumps({"stages": {"one": stage}}))
    ended = python("-m", "invoke", "repro", cwd=two_stages)
    assert ended.returncode == 8
    line = ended.stderr.splitlines()[-1]
    assert line.startswith("ERROR: one was killed (signal 9)") and "memory" in line


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no such pipes here")
def test_a_second_dvc_does_not_stop_the_first_at_its_next_stage(two_stages):
    stages = {"one": {"cmd": "cat pipe > one", "outs": ["one"]}}
    stages["two"] = {"cmd": "cp one two", "deps": ["one"], "outs": ["two"]}
    (two_stages / "dvc.yaml").write_text(json.dumps({"stages": stages}))
    os.mkfifo(two_stages / "pipe")
    command = [sys.executable, "-m", "dvc", "repro"]
    with subprocess.Popen(command, cwd=two_stages, stdout=subprocess.DEVNULL) as first:
        pipe = (two_stages / "pipe").open("w")  # opens once the first stage reads
        ended = python("-m", "invoke", "report", cwd=two_stages)
        pipe.close()
    assert (ended.returncode, first.returncode) == (4, 0)
    [line] = errors(ended)
    assert f"(PID {first.pid}); wait for its end" in line


def test_a_task_that_calls_a_function_refuses_a_dry_run(project):
    before = (project / "params.yaml").read_bytes()
    ended = python("-m", "invoke", "--dry", "profile", "smoke", cwd=ROOT)
    assert ended.returncode == 2 and "no --dry run" in ended.stderr
    assert (project / "params.yaml").read_bytes() == before


def stages_run(project, *words):
    """Return the stages that a task runs in a project."""
    ended = python("-m", "invoke", *words, cwd=project)
    assert ended.returncode == 0, ended.stderr
    return re.findall("Running stage '(.*?)'", ended.stdout)


@pytest.mark.slow
def test_only_disturbed_stages_are_measured_again(two_stages):
    stages = {}
    for name, busy in {"one": 1.0, "two": 90.0, "three": 1.0}.items():
        write_json(two_stages / f"{name}.json", {"busy_percent": busy})
        out = f"reports/{name}/conditions.json"
        (two_stages / out).parent.mkdir(parents=True)
        stages[name] = {"cmd": f"cp {name}.json {out}", "outs": [{out: {"cache": False}}]}
    (two_stages / "dvc.yaml").write_text(json.dumps({"stages": stages}))
    assert len(stages_run(two_stages, "repro")) == 3
    write_json(two_stages / "two.json", {"busy_percent": 2.0})
    assert stages_run(two_stages, "remeasure", "--noisy") == ["two"]
    assert stages_run(two_stages, "remeasure", "--noisy") == []


@pytest.mark.slow
@pytest.mark.parametrize("task", ["repro", "report", "compare"])
def test_without_a_git_repository_the_error_names_the_command_that_makes_one(two_stages, task):
    """As in a project that was downloaded as a ZIP."""
    shutil.rmtree(two_stages / ".git")
    ended = python("-m", "invoke", task, cwd=two_stages)
    assert ended.returncode == 4
    said = ended.stdout + ended.stderr
    assert re.search("not a git repository.*; `git init`", said)
    assert "Traceback" not in said


@pytest.mark.parametrize("stage", [{}, {"DVC_STAGE": "probe"}])
def test_a_python_without_the_packages_is_reported_in_one_line(stage):
    """DVC finds such a Python on PATH if the environment is not activated."""
    ended = python("-S", "-m", "stages.probe", cwd=ROOT, PYTHONPATH="", **stage)
    assert ended.returncode == 4
    [line] = errors(ended)
    assert sys.executable in line and "activate" in line
