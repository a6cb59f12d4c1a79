import errno
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from lab.core import files
from lab.core.errors import LabError, SpaceError


def test_a_file_appears_whole_and_leaves_no_part(tmp_path):
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


def said(read: Callable[[Path], object], path: Path) -> tuple[int, str]:
    """The exit code and the one line with which a file is refused."""
    with pytest.raises(LabError) as refused:
        read(path)
    assert str(refused.value).startswith(f"{path}: ")
    assert len(str(refused.value).splitlines()) == 1
    assert len(str(refused.value)) < 300 + len(str(path))
    return refused.value.exit_code, str(refused.value)


DAMAGED_JSON = {
    "half": b'{"a": 1',
    "empty": b"",
    "no object": b"[1]",
    "not text": b"\xff",
    "UTF-16": '{"a": 1}'.encode("utf-16"),
    "not finite": b'{"a": NaN}',
    "infinite": b'{"a": [-Infinity]}',
    "out of range": b'{"a": 1e999}',
}


@pytest.mark.parametrize("name", DAMAGED_JSON)
def test_damaged_json_is_said_in_one_line_with_what_mends_it(tmp_path, name):
    (tmp_path / "a.json").write_bytes(DAMAGED_JSON[name])
    code, line = said(files.read_json, tmp_path / "a.json")
    assert (code, "damaged (" in line) == (3, True)
    assert line.endswith("; delete it and run `invoke repro`")


DAMAGED_ROWS = {
    "empty": (b"", "no rows"),
    "a header": (b"a,b\n", "no rows"),
    "short": (b"a,b\n1,2\n3\n", "line 3: 1 cells for 2 columns"),
    "long": (b"a,b\n1,2,3\n", "line 2: 3 cells for 2 columns"),
    "not text": (b"a,b\n\xff,1\n", "decode"),
    "UTF-16": ("a,b\n1,2\n".encode("utf-16"), "decode"),
    "not finite": (b"a,b\n1,nan\n", "line 2: nan is no finite number"),
    "infinite": (b"a,b\n1,-Infinity\n", "no finite number"),
    "half a quote": (b'a,b\n1,"x\n', "line 2"),
    "a quote too many": (b'a,b\n1,"x"y\n', "line 2"),
}


@pytest.mark.parametrize("name", DAMAGED_ROWS)
def test_damaged_rows_are_said_in_one_line_with_their_place(tmp_path, name):
    content, complaint = DAMAGED_ROWS[name]
    (tmp_path / "rows.csv").write_bytes(content)
    code, line = said(files.read_rows, tmp_path / "rows.csv")
    assert (code, complaint in line) == (3, True), line
    assert line.endswith("; delete it and run `invoke repro`")


def test_what_is_not_there_yet_is_said(tmp_path):
    for read in (files.read_json, files.read_rows):
        code, line = said(read, tmp_path / "a.json")
        assert (code, "not there yet; `invoke repro` makes it" in line) == (3, True)
