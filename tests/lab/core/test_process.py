import json
import os
import shlex
import signal
import subprocess
import sys
import time

import psutil
import pytest

from lab.core import errors
from lab.core.process import ERROR_FILE, run
from lab.core.stage_times import OWN, read_times
from tests.helpers import ROOT, outlived

CODES = {
    "ParamsError": 2,
    "DataError": 3,
    "MachineError": 4,
    "CheckpointError": 5,
    "DivergedError": 6,
    "DistributedError": 7,
    "SpaceError": 8,
}


def test_exit_codes_are_the_documented_ones():
    assert {name: getattr(errors, name).exit_code for name in CODES} == CODES


def test_success_exits_with_0_and_leaves_no_error_file(project):
    assert run(lambda: None) == 0
    assert not ERROR_FILE.exists()


@pytest.mark.parametrize(
    ("error", "code", "line"),
    [
        (errors.DataError("no data; fetch them"), 3, "ERROR: no data; fetch them"),
        (MemoryError("9 GB"), 8, "ERROR: out of memory (9 GB); use a smaller batch or profile"),
        (KeyboardInterrupt(), 130, "ERROR: interrupted; the same command resumes"),
    ],
)
def test_a_failure_is_one_line_and_an_exit_code(project, capsys, error, code, line):
    def main() -> None:
        raise error

    assert run(main) == code
    assert capsys.readouterr().err.splitlines() == [line]
    assert json.loads(ERROR_FILE.read_text())["exit_code"] == code


def test_several_mistakes_are_several_lines(project, capsys):
    def main() -> None:
        raise errors.ParamsError("a\nb")

    assert run(main) == 2
    assert capsys.readouterr().err.splitlines() == ["ERROR: a", "ERROR: b"]


def test_a_bug_keeps_its_traceback(project):
    with pytest.raises(ZeroDivisionError):
        run(lambda: 1 / 0)


def test_lab_debug_shows_the_traceback_before_the_error(project, monkeypatch, capsys):
    monkeypatch.setenv("LAB_DEBUG", "1")
    assert run(lambda: (_ for _ in ()).throw(errors.DataError("x"))) == 3
    first, *_, last = capsys.readouterr().err.splitlines()
    assert (first, last) == ("Traceback (most recent call last):", "ERROR: x")


@pytest.mark.parametrize("closed", [">&-", "2>&-", "<&- >&- 2>&-"])
def test_a_command_runs_without_standard_streams(project, closed):
    """Its children do get streams; otherwise the next file they open would take their number."""
    program = """
import pathlib, subprocess, sys
from lab.core.process import run
def main():
    print("said", flush=True)
    print("said", file=sys.stderr, flush=True)
    subprocess.run(["sh", "-c", "echo out && echo err >&2"], check=True)
    pathlib.Path("done").touch()
sys.exit(run(main))
"""
    command = ["sh", "-c", f'exec "$@" {closed}', "sh", sys.executable, "-c", program]
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    subprocess.run(command, capture_output=True, env=environment, check=True)
    assert (project / "done").exists()


def test_too_many_open_files_are_reported_in_a_line_that_names_the_limit(project):
    program = """
import os, sys
from lab.core.process import run
sys.exit(run(lambda: [os.open(os.devnull, 0) for _ in range(200)]))
"""
    command = ["sh", "-c", 'ulimit -n 100 && exec "$@"', "sh", sys.executable, "-c", program]
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    result = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    assert result.returncode == 4
    [line] = result.stderr.splitlines()
    assert "ulimit -n" in line


SLEEPS = """
import sys, time
from lab.core.process import run
def main():
    print("begun", flush=True)
    for _ in range(600):  # a signal that comes just before a sleep is heard after it
        time.sleep(0.1)
sys.exit(run(main))
"""


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_gives_one_line_and_its_exit_code(project, number):
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-c", SLEEPS]
    with subprocess.Popen(
        command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout.readline() == "begun\n"
        process.send_signal(number)
        _, said = process.communicate(timeout=30)
    assert process.returncode == 128 + number
    assert said.count("ERROR: ") == len(said.splitlines()) == 1
    assert json.loads(ERROR_FILE.read_text())["exit_code"] == 128 + number


FORKS = """
import os, signal, sys, time
from lab.core.process import run
def stop():
    os.kill(os.getpid(), signal.SIGTERM)
    time.sleep(0.1)
def main():
    os.register_at_fork(after_in_parent=stop)
    if not os.fork():
        os._exit(0)
    for _ in range(600):
        time.sleep(0.1)
sys.exit(run(main))
"""


def test_a_signal_during_a_fork_is_handled(project):
    """Python ignores exceptions raised in fork callbacks, such as those of logging and torch."""
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-c", FORKS]
    ended = subprocess.run(
        command, env=environment, capture_output=True, text=True, check=False, timeout=60
    )
    assert ended.returncode == 143
    assert ended.stderr == "ERROR: interrupted; the same command resumes\n"


@pytest.mark.parametrize(
    ("program", "slow"), [("stages.train", "torch"), ("stages.fetch", "requests")]
)
def test_an_interrupt_during_slow_imports_leaves_no_traceback(project, program, slow):
    package = project / slow
    package.mkdir()
    (package / "__init__.py").write_text("print('begun', flush=True)\nimport time; time.sleep(60)")
    environment = os.environ | {"PYTHONPATH": f"{project}{os.pathsep}{ROOT}"}
    with subprocess.Popen(
        [sys.executable, "-m", program],
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout.readline() == "begun\n"
        process.send_signal(signal.SIGINT)
        assert process.communicate(timeout=30)[1] == ""
    assert process.returncode == -signal.SIGINT


ENDS_SLOWLY = """
import sys, time
from lab.core.process import run
def main():
    try:
        print("begun", flush=True)
        time.sleep(60)
    finally:
        print("ending", flush=True)
        time.sleep(1)
        print("ended", flush=True)
sys.exit(run(main))
"""


@pytest.mark.parametrize(
    ("second", "code", "said"),
    [(signal.SIGHUP, 143, "ended\n"), (signal.SIGINT, -2, ""), (signal.SIGTERM, -15, "")],
)
def test_a_second_signal_cuts_the_cleanup_short_but_a_hang_up_does_not(project, second, code, said):
    """A terminal that closes sends SIGHUP, as does Linux when the session's leader has ended."""
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-c", ENDS_SLOWLY]
    with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout.readline() == "begun\n"
        process.send_signal(signal.SIGTERM)
        assert process.stdout.readline() == "ending\n"
        process.send_signal(second)
        assert process.communicate(timeout=30) == (said, None)
    assert process.returncode == code


@pytest.mark.parametrize("shell", [[], ["sh", "-c"], ["bash", "-c"]])
def test_a_stage_ends_with_the_process_that_started_it(project, shell):
    """DVC starts a stage through a shell, which may stay in between."""
    (project / "stage.py").write_text(SLEEPS)
    words = [sys.executable, "stage.py"]
    command = [*shell, shlex.join(words) + "; true"] if shell else words
    starter = f"import subprocess; subprocess.run({command!r}, stdout=open('said', 'w'))"
    environment = os.environ | {"PYTHONPATH": str(ROOT), "DVC_STAGE": "a"}
    process = subprocess.Popen([sys.executable, "-c", starter], env=environment)
    said = project / "said"
    while not (said.is_file() and said.read_text()):
        assert process.poll() is None
        time.sleep(0.05)
    started = psutil.Process(process.pid).children(recursive=True)
    process.kill()
    process.wait()
    assert not outlived(started)


def test_a_stage_records_its_duration_including_imports(project):
    program = """
import sys, time
from lab.core.process import run
time.sleep(0.3)  # as torch's import takes
sys.exit(run(lambda: None))
"""
    environment = os.environ | {"PYTHONPATH": str(ROOT), "DVC_STAGE": "bench_async"}
    before = time.monotonic()
    subprocess.run([sys.executable, "-c", program], env=environment, check=True)
    [kept] = read_times(OWN).seconds["bench_async"].values()
    assert 0.2 < kept < time.monotonic() - before + 0.1  # recorded in tenths of a second
    assert not ERROR_FILE.exists(), "else what fails after it would pass for its being killed"
