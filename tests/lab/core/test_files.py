import errno
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from lab.core import files
from lab.core.errors import DataError, LabError, SpaceError
from tests.helpers import python


def test_a_file_is_written_whole_and_leaves_no_temporary_file(tmp_path):
    file = tmp_path / "new" / "folder" / "a.txt"
    files.write_atomically(file, b"one")
    files.write_atomically(file, b"two")
    assert file.read_bytes() == b"two"
    assert list(file.parent.iterdir()) == [file]


@pytest.mark.parametrize(("number", "kind"), [(errno.ENOSPC, SpaceError), (errno.EROFS, LabError)])
def test_a_failed_write_keeps_the_old_file_and_says_why(tmp_path, monkeypatch, number, kind):
    file = tmp_path / "a.txt"
    file.write_bytes(b"old")

    def fail(descriptor: int) -> None:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(kind, match=r"a\.txt"):
        files.write_atomically(file, b"new")
    assert file.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [file]


@pytest.mark.parametrize("moment", ["os.fsync", "Path.replace"])
def test_kill_9_at_any_moment_leaves_the_old_file(tmp_path, moment):
    file = tmp_path / "a.txt"
    program = (
        "import os, signal\nfrom pathlib import Path\nfrom lab.core import files\n"
        f"{moment} = lambda *_: os.kill(os.getpid(), signal.SIGKILL)\n"
        f"files.write_atomically(Path({str(file)!r}), b'new' * 10**6)\n"
    )
    file.write_bytes(b"old")
    result = subprocess.run([sys.executable, "-c", program], check=False)
    assert result.returncode == -signal.SIGKILL
    assert file.read_bytes() == b"old"


def test_rows_survive_the_round_trip_exactly(tmp_path):
    rows = [{"x": 0.1 + 0.2, "kind": "cuda", "n": 3}, {"x": 1e-300, "kind": "a,b", "n": 4}]
    files.write_rows(tmp_path, rows)
    assert files.read_rows(tmp_path / "rows.csv") == rows


DAMAGED = {  # file name, content, part of the error
    "half": ("a.json", b'{"a": 1', "damaged ("),
    "empty": ("a.json", b"", "damaged ("),
    "no object": ("a.json", b"[1]", "expected an object"),
    "not text": ("a.json", b"\xff", "decode"),
    "UTF-16": ("a.json", '{"a": 1}'.encode("utf-16"), "decode"),
    "not finite": ("a.json", b'{"a": NaN}', "NaN is no finite number"),
    "infinite": ("a.json", b'{"a": [-Infinity]}', "no finite number"),
    "out of range": ("a.json", b'{"a": 1e999}', "no finite number"),
    "no line": ("a.csv", b"", "no rows"),
    "a header": ("a.csv", b"a,b\n", "no rows"),
    "a short row": ("a.csv", b"a,b\n1,2\n3\n", "line 3: 1 cells for 2 columns"),
    "a long row": ("a.csv", b"a,b\n1,2,3\n", "line 2: 3 cells for 2 columns"),
    "a cell not text": ("a.csv", b"a,b\n\xff,1\n", "decode"),
    "a cell not finite": ("a.csv", b"a,b\n1,nan\n", "line 2: nan is no finite number"),
    "a cell infinite": ("a.csv", b"a,b\n1,-Infinity\n", "no finite number"),
    "half a quote": ("a.csv", b'a,b\n1,"x\n', "line 2"),
    "a quote too many": ("a.csv", b'a,b\n1,"x"y\n', "line 2"),
}


def said(path: Path) -> str:
    """Return the one-line error for a file that is refused."""
    with pytest.raises(DataError) as refused:
        files.read_json(path) if path.suffix == ".json" else files.read_rows(path)
    assert refused.value.exit_code == 3
    line = str(refused.value)
    assert line.startswith(f"{path}: ")
    assert len(line.splitlines()) == 1 and len(line) < 300 + len(str(path))
    return line


@pytest.mark.parametrize("how", DAMAGED)
def test_a_damaged_file_is_reported_in_one_line_with_the_place_and_the_fix(tmp_path, how):
    name, content, complaint = DAMAGED[how]
    (tmp_path / name).write_bytes(content)
    line = said(tmp_path / name)
    assert complaint in line and line.endswith("; delete it and run `invoke repro`")


def test_a_merge_conflict_is_reported_with_the_command_that_resolves_it(tmp_path):
    for name, line in (("a.json", '{"a": %d}'), ("a.csv", "a,b\n%d,0")):
        sides = f"<<<<<<< HEAD\n{line % 1}\n=======\n{line % 2}\n>>>>>>> other\n"
        (tmp_path / name).write_text(sides)
        assert "a merge left both sides in it; `git checkout --ours reports`" in said(
            tmp_path / name
        )


def test_a_shells_file_size_limit_is_reported_with_the_command_that_lifts_it(tmp_path):
    program = (
        "import resource; from pathlib import Path; from lab.core.files import *;"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000));"
        "write_atomically(Path('a'), bytes(1001))"
    )
    ended = python("-c", program, cwd=tmp_path)
    line = ended.stderr.splitlines()[-1]
    assert "SpaceError: a: " in line and line.endswith("`ulimit -f unlimited`")
    assert not list(tmp_path.iterdir())


def test_a_missing_file_is_reported_with_the_command_that_makes_it(tmp_path):
    for name in ("a.json", "a.csv"):
        assert "not there yet; `invoke repro` makes it" in said(tmp_path / name)
