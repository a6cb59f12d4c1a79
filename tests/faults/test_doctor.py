"""Every state in which a crash or half a copy leaves a project: the doctor names and mends it.

Each state is planted in a copy of a project that the real DVC ran. The doctor must name it and one
command; that command, run as it stands, must mend it.
"""

import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
from dvc.rwlock import SCHEMA
from filelock import FileLock

from lab.tools.doctor.__main__ import ROOMS, checks, examine
from lab.tools.doctor.finding import FIX
from tests.faults.doctor_states import DEAD, STATES, lock_text, look, obey, write, wrong
from tests.faults.two_stages import TABLE, git

FILES_ALONE = tuple(room for room in ROOMS if room not in ("environment", "dvc_state"))


@pytest.mark.parametrize("name", STATES)
def test_each_state_is_named_and_the_command_mends_it(copy, name):
    room, plant, words, exit_code, command = STATES[name]
    plant()
    before = wrong(room)
    [finding] = [each for each in before if words in each.text]
    assert finding.exit_code == exit_code
    assert len(str(finding).splitlines()) == 1
    assert command in str(finding)
    if " repro" not in command:  # which takes its time: test_dvc.py has some of them
        obey(finding)
        assert [each for each in wrong(room) if words in each.text] == []


def test_no_part_of_a_lock_file_is_taken_for_a_whole_one(copy):
    """Also without git and without a copy, of which a part can be known to be one."""
    whole = lock_text()
    assert wrong("lock_file") == []
    shutil.rmtree(".git")
    assert wrong("lock_file") == []
    lines = whole.splitlines(keepends=True)
    for count in range(len(lines)):
        write("dvc.lock", "".join(lines[:count]) + lines[count][: 9 * (count % 2)])
        assert wrong("lock_file"), lock_text()
    write("dvc.lock", whole.partition("  landscapes:")[0])
    [finding] = wrong("lock_file")
    assert "dvc.lock lacks landscapes" in finding.text, "whose results are here"
    write("dvc.lock", whole.rpartition("    outs:")[0])
    [finding] = wrong("lock_file")
    assert finding.level == "FAIL", "each stage has a result"


def test_fix_brings_the_lock_file_back_and_keeps_the_damaged_one(copy, capsys):
    whole = lock_text()
    write("dvc.lock", "stages: [")
    assert examine(checks(["lock_file"]), fix=True) == []
    assert (
        "fixed lock file: dvc.lock is the one of the last commit again" in capsys.readouterr().out
    )
    assert lock_text() == whole
    assert Path(".lab/dvc.lock.damaged").read_text() == "stages: ["


def test_fix_leaves_a_dvc_that_runs_its_lock(copy):
    """A process that is called dvc, and one that is gone: the entry of the latter goes."""
    write("run/dvc", "import time; time.sleep(60)")
    with subprocess.Popen([sys.executable, "run/dvc", "repro"]) as process:
        try:
            mine = {"pid": process.pid, "cmd": "dvc repro"}
            entries = {"write": {"/a": mine}, "read": {"/b": [mine, mine | {"pid": DEAD}]}}
            write(".dvc/tmp/rwlock", json.dumps(entries))
            examine(((n, c) for n, c in checks(["dvc_state"]) if n == "who_is_busy"), fix=True)
            left = json.loads(Path(".dvc/tmp/rwlock").read_text())
            assert left == SCHEMA(left) == {"write": {"/a": mine}, "read": {"/b": [mine]}}
            assert [(f.level, str(process.pid) in f.text) for f in look("dvc_state")] == [
                ("note", True)
            ]
            write(".dvc/tmp/rwlock", "garbage{")
            [finding] = wrong("dvc_state")
            assert (finding.command, finding.mend) == (f"kill {process.pid}", None)
        finally:
            process.kill()


def content() -> dict[str, bytes]:
    """What every file holds."""
    return {str(path): path.read_bytes() for path in Path().rglob("*") if path.is_file()}


def test_fix_deletes_what_dead_processes_left_and_nothing_else(copy, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "temporary"))
    write("params.yaml", Path("params.yaml").read_text() + "# an edit\n")
    for kept in (
        f"reports/landscapes/rows.csv.part-{os.getpid()}-00ff00ff",  # is being written
        f".lab/ranks/{socket.gethostname()}-{os.getpid()}/0/error.json",
        f".lab/ranks/another-host-{DEAD}/0/error.json",
        ".lab/checkpoints/0123/00001-00001-0123456789abcdef.pt",
        "data/mine.part-of-it",
        str(tmp_path / "temporary/torchelastic_abc/of-another-program_x/error.json"),
    ):
        write(kept, "kept")
    before = content()
    left = (
        f"reports/landscapes/rows.csv.part-{DEAD}-00ff00ff",
        f"params.yaml.part-{DEAD}-00ff00ff",
        f".lab/last_error.json.part-{DEAD}-1",
        ".lab/downloads/fashion-mnist/tmp12345",
        f".lab/ranks/{socket.gethostname()}-{DEAD}/0/error.json",
        str(tmp_path / "temporary/torchelastic_abc/lenet_1gpu_x/error.json"),
    )
    for path in left:
        write(path, "left")
    before[".lab/downloads.lock"] = b""  # which keeps fetches away meanwhile
    remarks = examine(checks(["leftovers"]), fix=True)
    assert content() == before
    assert not any(Path(path).exists() for path in left)
    assert [finding.level for finding in remarks] == ["note"], "checkpoints are named, no more"
    assert "rm -r .lab/checkpoints/0123" in capsys.readouterr().out


def test_what_a_fetch_writes_now_is_left_alone(copy):
    write(".lab/downloads/fashion-mnist/tmp12345", "being written")
    with FileLock(".lab/downloads.lock"):
        assert wrong("leftovers") == []
    [finding] = wrong("leftovers")
    assert finding.command == FIX


def test_what_explains_itself_is_a_note(copy):
    git("checkout", "-q", "--detach", cwd=copy)
    write(".git/shallow", git("rev-parse", "HEAD", cwd=copy))
    assert [(f.level, f.command) for f in look("repository") if f.level != "ok"] == [
        ("note", "git switch -c NAME"),
        ("note", "git fetch --unshallow"),
    ]
    shutil.rmtree(".git")
    write(".dvc/config.local", "[core]\n    no_scm = true\n")
    assert [f.level for f in look("repository")] == ["note", "ok"], "DVC does without"


GARBAGE = (b"", b"{}", b"[", b"garbage{", b"\0" * 64, b"\xff\xfe<", b"a: " * 5000, b"[1, 2]\n")
READ = (
    *("dvc.lock", "dvc.yaml", "params.yaml", ".dvc/config", ".dvc/tmp/rwlock", "data/source.json"),
    *("data/FashionMNIST/raw/train-labels-idx1-ubyte", ".git/HEAD", str(TABLE), "the cache"),
)


@pytest.mark.parametrize("name", READ)
def test_no_garbage_ends_the_doctor(copy, name):
    """Whatever is in a file that it reads: lines, and an exit code that is of the lab's."""
    path = Path(name)
    if name == "the cache":  # DVC's list of the files of a folder
        path = next(Path(".dvc/cache/files").rglob("*.dir"))
        path.chmod(0o644)
    rooms = [room for room in FILES_ALONE if name == "params.yaml" or room != "parameters"]
    for content in GARBAGE[READ.index(name) % 2 :: 2]:
        path.write_bytes(content)
        left = examine(checks(rooms), fix=False)
        assert all("not looked at" not in str(each) for each in left), left
        assert {each.exit_code for each in left if each.level == "FAIL"} <= {2, 3, 4}
    path.unlink()
    path.mkdir()
    assert examine(checks(rooms), fix=False)
