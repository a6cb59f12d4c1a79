"""The front door: tasks, the commands behind them, and how they end."""

import json
import re
import subprocess
import sys

import pytest
from invoke.collection import Collection
from invoke.context import Context
from invoke.exceptions import Exit

import tasks
from lab.core.errors import MachineError
from lab.core.process import ERROR_FILE
from tests.helpers import ROOT, errors

C = Context()
TASKS = Collection.from_module(tasks).tasks


@pytest.fixture
def commands(monkeypatch):
    """The commands that tasks would run."""
    found = []
    monkeypatch.setattr(tasks, "_run", lambda command, echo=True, plan=False: found.append(command))
    return found


def test_the_readme_names_every_task():
    [listed] = re.findall(r"Tasks \(`invoke --list`\): ([^.]+)\.", (ROOT / "README.md").read_text())
    assert set(re.findall(r"`(\w+)`", listed)) == set(TASKS)


def test_every_option_of_a_task_has_help():
    for name, task in TASKS.items():
        assert task.__doc__, name
        for option in task.get_arguments():
            assert option.help, f"{name} --{option.name}"


@pytest.mark.parametrize("name", ["train", "predict", "profile", "snapshot", "record"])
def test_help_is_shown_where_invoke_expects_an_argument(name):
    shown = subprocess.run(
        [sys.executable, "-m", "invoke", name, "--help"], cwd=ROOT, capture_output=True, text=True
    )
    assert TASKS[name].__doc__ in shown.stdout
    assert "Options:" in shown.stdout


def test_tests_are_the_fast_ones_unless_all_are_asked_for(commands):
    tasks.test(C)
    tasks.test(C, all=True)
    tasks.test(C, k="two words")
    fast, every, chosen = commands
    assert "-m 'not slow'" in fast
    assert "-m " not in every.removeprefix("python -m pytest")
    assert chosen.endswith("-k 'two words'")


@pytest.mark.parametrize(
    "call",
    [
        lambda name: tasks.profile(C, name),
        lambda name: tasks.train(C, name),
        lambda name: tasks.snapshot(C, name),
        lambda name: tasks.compare(C, name),
        lambda name: tasks.repro(C, stage=name),
    ],
)
def test_words_of_the_user_stay_one_word(commands, call):
    call("x; touch pwned")
    assert "'" in commands[0]
    assert not re.search(r"(?<!')\S*x; touch pwned(?!')", commands[0])


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


def test_what_an_earlier_run_left_and_cannot_be_deleted_ends_in_one_line(tmp_path, capsys):
    with pytest.raises(Exit) as end:
        tasks._clear(tmp_path)  # a folder is no file to delete
    assert end.value.code == MachineError.exit_code
    assert str(tmp_path) in capsys.readouterr().err


def test_an_environment_without_the_labs_packages_is_named_by_the_first_stage():
    """As that of the first `python` on PATH may be, where `dvc` is run by its path."""
    command = [sys.executable, "-S", "-m", "stages.probe"]  # without the packages of this one
    ended = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=60)
    assert ended.returncode == MachineError.exit_code
    [line] = errors(ended)
    assert "activate" in line
