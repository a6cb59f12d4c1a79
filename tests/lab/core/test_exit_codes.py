import json
import signal
import subprocess
import sys

import pytest

from lab.core import errors
from lab.core.exit_codes import ERROR_FILE, run
from tests.helpers import ROOT

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


def test_success_is_0_and_leaves_no_error_file(project):
    assert run(lambda: None) == 0
    assert not ERROR_FILE.exists()


@pytest.mark.parametrize(
    ("error", "code", "line"),
    [
        (errors.DataError("no data; fetch them"), 3, "ERROR: no data; fetch them"),
        (MemoryError("9 GB"), 8, "ERROR: out of memory (9 GB); use a smaller batch or profile"),
        (KeyboardInterrupt(), 130, "ERROR: interrupted; the same command goes on"),
    ],
)
def test_a_failure_is_one_line_and_its_code(project, capsys, error, code, line):
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


def test_lab_debug_shows_the_traceback(project, monkeypatch):
    monkeypatch.setenv("LAB_DEBUG", "1")
    with pytest.raises(errors.LabError):
        run(lambda: (_ for _ in ()).throw(errors.DataError("x")))


def test_a_stop_request_is_heard_once_and_ends_the_process_the_second_time():
    program = """
import os, signal, sys
from lab.core.signals import StopRequest
with StopRequest() as stop:
    os.kill(os.getpid(), signal.SIGTERM)
    print(stop.signal_number, flush=True)
    if len(sys.argv) > 1:
        os.kill(os.getpid(), signal.SIGINT)
print("in good order")
"""

    def ends(*words):
        command = [sys.executable, "-c", program, *words]
        result = subprocess.run(
            command, capture_output=True, text=True, check=False, cwd=ROOT, timeout=60
        )
        return result.returncode, result.stdout.split("\n")[0], "in good order" in result.stdout

    assert ends() == (0, "15", True)
    assert ends("again") == (-signal.SIGINT, "15", False)


def test_one_of_several_processes_leaves_the_error_to_its_launcher(project, monkeypatch, capsys):
    def main() -> None:
        raise errors.SpaceError("full")

    monkeypatch.setenv("TORCHELASTIC_ERROR_FILE", str(project / "error.json"))
    assert run(main) == 8
    assert capsys.readouterr().err == ""
    message = json.loads((project / "error.json").read_text())["message"]
    assert (message["message"], message["exit_code"], message["kind"]) == ("full", 8, "SpaceError")
