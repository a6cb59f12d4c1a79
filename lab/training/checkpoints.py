"""Checkpoints of a run: files written atomically, in a folder that only this run finds.

The folder's name is a hash of everything that decides the result (params, code, data, torch,
devices), so a run never encounters a different run's checkpoints. A file's name contains its
progress and the hash of its content: `00003-00120-<hash>.pt` is after 3 epochs and 120 steps. The
last two files are kept.
"""

import hashlib
import io
import json
import logging
import re
import shutil
import warnings
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import torch
from filelock import FileLock, Timeout

from lab.core.errors import CheckpointError, DistributedError, MachineError
from lab.core.files import write_atomically

CHECKPOINTS = Path(".lab/checkpoints")
KEPT = 2

log = logging.getLogger(__name__)


def run_key(decisive: Mapping[str, Any], files: list[Path]) -> str:
    """Hash what decides a run's result: JSON-like facts, and the contents of files in order."""
    digest = hashlib.sha256(json.dumps(decisive, sort_keys=True).encode())
    for path in files:
        digest.update(hashlib.sha256(path.read_bytes()).digest())
    return digest.hexdigest()[:24]


class Checkpoints:
    """The checkpoints of the run with a `key`."""

    def __init__(self, key: str, root: Path = CHECKPOINTS) -> None:
        self.key = key
        self.folder = root / key

    @contextmanager
    def lock(self) -> Iterator[None]:
        """Lock this run against all other processes, until this one ends in whatever way.

        Raises:
            DistributedError: another process holds the lock.
            MachineError: the folder cannot be written to.
        """
        path = self.folder.with_suffix(".lock")
        lock = FileLock(path, timeout=0)
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            lock.acquire()
        except Timeout:
            raise DistributedError(
                f"{path}: another process trains this very run; wait for it or stop it"
            ) from None
        except OSError as error:
            raise MachineError(
                f"{path}: cannot be written ({error.strerror}); fix the folder's permissions"
            ) from None
        try:
            yield
        finally:
            lock.release()

    def save(self, epochs: int, step: int, state: Mapping[str, Any]) -> None:
        """Write a checkpoint after `epochs` and `step` more steps; delete all but the last two.

        Raises:
            SpaceError: the disk is full; the earlier checkpoints stay.
        """
        buffer = io.BytesIO()
        torch.save({"key": self.key, **state}, buffer)
        content = buffer.getvalue()
        write_atomically(self.folder / f"{epochs:05d}-{step:05d}-{_hash(content)}.pt", content)
        for old in self._newest_first()[KEPT:]:
            old.unlink()

    def latest(self) -> bytes | None:
        """Return the newest checkpoint that is not damaged, or None if there are no checkpoints.

        Raises:
            CheckpointError: there are checkpoints, but all are damaged.
        """
        paths = self._newest_first()
        for path in paths:
            content = path.read_bytes()
            if path.stem.split("-")[-1] == _hash(content):
                return content
            log.warning(
                "WARNING: %s: damaged (its content is not what its name says); trying the one"
                " before",
                path,
            )
        if paths:
            raise CheckpointError(
                f"{self.folder}: every checkpoint is damaged; delete the folder to start afresh"
            )
        return None

    def decode(self, content: bytes) -> dict[str, Any]:
        """Return the state in a checkpoint.

        Raises:
            CheckpointError: `content` is not a checkpoint of this run.
        """
        what_to_do = f"delete {self.folder} to start afresh"
        try:
            state: dict[str, Any] = tensors_in(content)
            found = state["key"]
        except (ValueError, LookupError, TypeError) as error:
            raise CheckpointError(
                f"{self.folder}: a file is no checkpoint ({error}); {what_to_do}"
            ) from None
        if found != self.key:
            raise CheckpointError(f"{self.folder}: a file is another run's ({found}); {what_to_do}")
        return state

    def clear(self) -> None:
        """Delete all checkpoints, so that the next run starts afresh, once results are written."""
        shutil.rmtree(self.folder, ignore_errors=True)

    def _newest_first(self) -> list[Path]:
        pattern = re.compile(r"\d{5,}-\d{5,}-[0-9a-f]{16}\.pt")
        return sorted(
            (path for path in self.folder.glob("*.pt") if pattern.fullmatch(path.name)),
            reverse=True,
        )


def tensors_in(content: bytes) -> Any:
    """Load what torch.save wrote if it is tensors, numbers and strings; unpickle nothing else.

    Raises:
        ValueError: the content is something else, incomplete, or not from torch.save.
    """
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as file:
            if sum(part.file_size for part in file.infolist()) > len(content):
                raise ValueError("it is packed, which torch does not do")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about content that is rejected anyway
            return torch.load(  # noqa: TID251  (only here)
                io.BytesIO(content), weights_only=True, map_location="cpu"
            )
    except Exception as error:  # whatever a damaged or foreign file raises
        reason = (str(error).splitlines() or [type(error).__name__])[0]
        raise ValueError(reason.partition(". ")[0]) from None


def _hash(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()[:16]
