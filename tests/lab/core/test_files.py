import errno
import json
import os
import signal
import subprocess
import sys

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


@pytest.mark.parametrize(
    ("rows", "complaint"),
    [
        ([], "at least one row"),
        ([{"x": float("nan")}], "not finite"),
        ([{"x": 1.0}, {"x": float("inf")}], "not finite"),
        ([{"x": 1}, {"y": 2}], "fields"),
    ],
)
def test_rows_that_mean_nothing_are_refused(tmp_path, rows, complaint):
    with pytest.raises(ValueError, match=complaint):
        files.write_rows(tmp_path, rows)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    "metrics", [{"a.b": 1}, {"a": None}, {"a": [1]}, {"a": True}, {"a": float("nan")}]
)
def test_metrics_that_dvc_would_not_show_are_refused(tmp_path, metrics):
    with pytest.raises(ValueError, match=r"no metric|JSON compliant"):
        files.write_metrics(tmp_path, metrics)
    assert not list(tmp_path.iterdir())


def test_metrics_are_plain_json(tmp_path):
    files.write_metrics(tmp_path, {"epoch_s": 1.5, "dataset": "synthetic"})
    assert json.loads((tmp_path / "metrics.json").read_text()) == {
        "epoch_s": 1.5,
        "dataset": "synthetic",
    }


@pytest.mark.parametrize("content", [b"{", b"[1]", b"\xff"])
def test_damaged_json_is_said(tmp_path, content):
    (tmp_path / "a.json").write_bytes(content)
    with pytest.raises(LabError, match=r"a\.json: (damaged|expected)"):
        files.read_json(tmp_path / "a.json")


def test_what_is_not_there_yet_is_said(tmp_path):
    with pytest.raises(LabError, match="invoke repro"):
        files.read_json(tmp_path / "a.json")
    with pytest.raises(LabError, match="invoke repro"):
        files.read_rows(tmp_path / "rows.csv")
