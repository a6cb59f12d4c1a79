"""After a signal to invoke, DVC or a stage no process survives, and the same command resumes."""

import contextlib
import fcntl
import os
import pty
import shutil
import signal
import subprocess
import sys
import termios
import time

import psutil
import pytest

from tests.helpers import ROOT, committed_params, outlived

pytestmark = pytest.mark.slow
STAGE = """
import pathlib, sys, time
from lab.core.files import write_json
from lab.core.process import run

def main():
    pathlib.Path("begun").touch()
    try:
        while not pathlib.Path("go").exists():
            time.sleep(0.05)
    finally:
        time.sleep(1)  # a last step and a checkpoint
        pathlib.Path("in_order").touch()
    write_json(pathlib.Path("result.json"), {"x": 1})

sys.exit(run(main))
"""
PIPELINE = """
stages:
  probe: {cmd: python stage.py, deps: [stage.py], outs: [{result.json: {cache: false}}]}
"""
CASES = {  # who gets which signal, the exit code, and whether the stage ends in order
    "a terminal's Ctrl-C": ("terminal", signal.SIGINT, 130, True),
    "a signal to the whole group": ("all", signal.SIGINT, 130, True),
    "an editor's stop button": ("invoke", signal.SIGINT, 130, True),
    "timeout, or a scheduler": ("invoke", signal.SIGTERM, 143, True),
    "kill -9 of invoke": ("invoke", signal.SIGKILL, -9, True),
    "kill -9 of dvc": ("dvc", signal.SIGKILL, None, True),
    "kill -9 of the stage": ("stage", signal.SIGKILL, None, False),
}


@pytest.fixture
def tiny(tmp_path):
    """A project of one stage, which waits for a file."""
    folder = tmp_path / "a project"
    folder.mkdir()
    for name in ("tasks.py", ".dvcignore"):
        shutil.copy(ROOT / name, folder)
    shutil.copytree(ROOT / ".dvc", folder / ".dvc", ignore=shutil.ignore_patterns("tmp", "cache"))
    (folder / "stage.py").write_text(STAGE)
    (folder / "dvc.yaml").write_text(PIPELINE)
    (folder / "params.yaml").write_text(committed_params())
    subprocess.run(["git", "init", "-q"], cwd=folder, check=True)
    return folder


@pytest.fixture
def keyboard():
    """The two ends of a pseudo-terminal: the user's and that of `invoke`."""
    ends = pty.openpty()
    yield ends
    for end in ends:
        os.close(end)


def take_terminal():
    """Make standard input this session's controlling terminal."""
    fcntl.ioctl(0, termios.TIOCSCTTY, 0)


@pytest.fixture
def repro(tiny, keyboard):
    """Start `invoke repro` in a terminal; kill what a failed test leaves running."""
    started = []

    def start(*through):
        environment = os.environ | {"PYTHONPATH": str(ROOT), "PATH": "/usr/bin:/bin"}
        process = subprocess.Popen(
            [*through, sys.executable, "-m", "invoke", "repro"],
            cwd=tiny,
            env=environment,
            stdin=keyboard[1],
            start_new_session=True,
            preexec_fn=take_terminal,
        )
        started.append(process)
        return process

    yield start
    for process in started:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)


def test_under_nohup_a_run_survives_a_closed_terminal(tiny, repro):
    invoke = repro("nohup")
    while not (tiny / "begun").exists():
        assert invoke.poll() is None
        time.sleep(0.05)
    os.killpg(invoke.pid, signal.SIGHUP)
    (tiny / "go").touch()
    assert invoke.wait(timeout=60) == 0
    assert (tiny / "result.json").exists()


@pytest.mark.parametrize("case", CASES)
def test_all_processes_end_and_the_same_command_resumes(tiny, repro, keyboard, case):
    who, number, code, in_order = CASES[case]
    invoke = repro()
    while not (tiny / "begun").exists():
        assert invoke.poll() is None
        time.sleep(0.05)
    family = psutil.Process(invoke.pid).children(recursive=True)
    dvc = next(p for p in family if any(word.endswith("dvc") for word in p.cmdline()))
    stage = next(p for p in family if "stage.py" in p.cmdline())
    if who == "terminal":
        os.write(keyboard[0], b"\x03")
    elif who == "all":
        os.killpg(invoke.pid, number)
    else:
        {"invoke": invoke, "dvc": dvc, "stage": stage}[who].send_signal(number)
    ended = invoke.wait(timeout=30)
    assert code is None or ended == code
    assert ended
    assert not outlived(family)
    assert (tiny / "in_order").exists() == in_order
    assert not (tiny / "result.json").exists()
    (tiny / "go").touch()
    assert repro().wait(timeout=60) == 0
    assert (tiny / "result.json").read_text() == '{\n  "x": 1\n}\n'
