import errno
import io
import logging
import os
import pickle
import subprocess
import sys
import zipfile

import pytest
import torch

from lab.core.errors import CheckpointError, DistributedError, MachineError, SpaceError
from lab.core.files import sha256
from lab.training.checkpoints import Checkpoints, run_key
from tests.helpers import ROOT

STATE = {
    "params": {"w": torch.arange(5.0)},
    "buffers": [{"mean": torch.zeros(2)}],
    "updates": [[torch.ones(5)]],
    "epochs": [(1, 0.5, 0.75, 1.25, False)],
    "losses": torch.zeros(3, dtype=torch.float64),
    "seconds": 0.5,
}


@pytest.fixture
def checkpoints(tmp_path):
    return Checkpoints("a-key", tmp_path)


def saved(checkpoints, count=3):
    for i in range(count):
        checkpoints.save(i, 7 * i, STATE | {"seconds": float(i)})
    return sorted(checkpoints.folder.iterdir())


def latest_seconds(checkpoints):
    return checkpoints.decode(checkpoints.latest())["seconds"]


def test_a_saved_state_comes_back_and_the_last_two_are_kept(checkpoints):
    assert checkpoints.latest() is None
    assert [path.name[:11] for path in saved(checkpoints)] == ["00001-00007", "00002-00014"]
    state = checkpoints.decode(checkpoints.latest())
    assert torch.equal(state["params"]["w"], STATE["params"]["w"])
    assert (state["epochs"], state["seconds"]) == (STATE["epochs"], 2.0)
    for _ in range(2):
        checkpoints.clear()
        assert checkpoints.latest() is None


def test_a_later_step_is_newer_than_its_epochs_start(checkpoints):
    checkpoints.save(10, 0, STATE | {"seconds": 1.0})
    checkpoints.save(9, 99_999, STATE | {"seconds": 2.0})
    assert latest_seconds(checkpoints) == 1
    checkpoints.save(10, 3, STATE | {"seconds": 3.0})
    assert latest_seconds(checkpoints) == 3


def test_a_damaged_checkpoint_falls_back_to_the_previous_one_with_a_warning(checkpoints, caplog):
    older, newer = saved(checkpoints)
    newer.write_bytes(newer.read_bytes()[:100])
    with caplog.at_level(logging.WARNING):
        assert latest_seconds(checkpoints) == 1
    assert newer.name in caplog.text
    older.write_bytes(b"")
    with pytest.raises(CheckpointError, match="every checkpoint is damaged; delete") as error:
        checkpoints.latest()
    assert error.value.exit_code == 5


def test_a_bit_flipped_anywhere_is_detected(checkpoints):
    older, newer = saved(checkpoints)
    older.unlink()
    content = newer.read_bytes()
    for place in range(0, len(content), max(1, len(content) // 200)):
        flipped = bytearray(content)
        flipped[place] ^= 1 << place % 8
        newer.write_bytes(flipped)
        with pytest.raises(CheckpointError, match="every checkpoint is damaged"):
            checkpoints.latest()


def put(checkpoints, content):
    """Write a file under the name that a checkpoint of its content would have."""
    checkpoints.folder.mkdir(parents=True)
    (checkpoints.folder / f"00005-00000-{sha256(content)[:16]}.pt").write_bytes(content)


def written(document, **options):
    """Return the bytes that torch.save writes."""
    buffer = io.BytesIO()
    torch.save(document, buffer, **options)
    return buffer.getvalue()


def packed(content):
    """Return the file with its parts compressed, like a zip bomb."""
    buffer = io.BytesIO()
    with (
        zipfile.ZipFile(io.BytesIO(content)) as old,
        zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as new,
    ):
        for part in old.infolist():
            new.writestr(part.filename, old.read(part))
    return buffer.getvalue()


class Malicious:
    def __reduce__(self):
        return os.mkdir, ("canary",)


LARGE = STATE | {"key": "a-key", "params": {"w": torch.zeros(10_000)}}
FOREIGN = {
    "a bomb": packed(written(LARGE)),
    "the old format": written(LARGE, _use_new_zipfile_serialization=False),
    "a pickle": pickle.dumps(3),
    "code": written([Malicious()]),
    "a net": written(torch.nn.Linear(1, 1)),
}


@pytest.mark.parametrize("content", FOREIGN.values(), ids=FOREIGN)
def test_any_other_file_is_refused_and_runs_no_code(checkpoints, tmp_path, monkeypatch, content):
    monkeypatch.chdir(tmp_path)
    put(checkpoints, content)
    with pytest.raises(CheckpointError, match="a file is no checkpoint") as refused:
        latest_seconds(checkpoints)
    assert len(str(refused.value).splitlines()) == 1
    assert not (tmp_path / "canary").exists()


def test_another_runs_checkpoint_is_refused(checkpoints):
    put(checkpoints, written({"key": "another", **STATE}))
    with pytest.raises(CheckpointError, match="another run's"):
        latest_seconds(checkpoints)


def test_a_full_disk_leaves_the_earlier_checkpoints(checkpoints, monkeypatch):
    before = saved(checkpoints)

    def full(_):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(SpaceError):
        checkpoints.save(9, 0, STATE)
    assert sorted(checkpoints.folder.iterdir()) == before
    assert latest_seconds(checkpoints) == 2


def test_the_lock_keeps_another_process_out_until_its_holder_is_gone(checkpoints):
    program = f"""
import time
from pathlib import Path
from lab.training.checkpoints import Checkpoints
with Checkpoints("a-key", Path({str(checkpoints.folder.parent)!r})).lock():
    print("locked", flush=True)
    time.sleep(60)
"""
    holder = subprocess.Popen(
        [sys.executable, "-c", program], stdout=subprocess.PIPE, text=True, cwd=ROOT
    )
    assert holder.stdout is not None
    assert holder.stdout.readline() == "locked\n"
    with (
        pytest.raises(DistributedError, match="another process trains this very run") as error,
        checkpoints.lock(),
    ):
        pass
    assert error.value.exit_code == 7
    holder.kill()
    holder.communicate()
    with checkpoints.lock():
        pass


def test_a_lock_that_cannot_be_made_is_a_one_line_error(tmp_path):
    """As in a read-only checkout; here a file takes the folder's place."""
    (tmp_path / "file").touch()
    with pytest.raises(MachineError) as error, Checkpoints("a-key", tmp_path / "file").lock():
        pass
    assert (error.value.exit_code, str(error.value).count("\n")) == (4, 0)


def test_the_key_changes_with_each_fact_and_each_byte_of_the_files(tmp_path):
    (tmp_path / "code.py").write_text("a = 1")
    files = [tmp_path / "code.py"]
    first = run_key({"lr": 0.1, "net": "lenet"}, files)
    assert first == run_key({"net": "lenet", "lr": 0.1}, files)
    assert first != run_key({"net": "lenet", "lr": 0.2}, files)
    (tmp_path / "code.py").write_text("a = 2")
    assert first != run_key({"lr": 0.1, "net": "lenet"}, files)
