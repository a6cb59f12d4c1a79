import json

import pytest

from lab import errors
from lab.runner import ERROR_FILE, run

CODES = {"ParamsError": 2, "DataError": 3, "MachineError": 4, "DivergedError": 6, "SpaceError": 8}


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
        (KeyboardInterrupt(), 130, "ERROR: interrupted; the same command starts this stage again"),
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
