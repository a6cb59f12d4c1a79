"""The files in which DVC notes what it has done, dvc.lock, and what it is doing, its lock table."""

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import psutil
from filelock import FileLock, Timeout
from ruamel.yaml import YAML
from ruamel.yaml.error import YAMLError

from lab.core.errors import MachineError
from lab.core.files import MERGE_MARK, MERGED

DVC_LOCK = Path("dvc.lock")
BROKEN_DVC_LOCK = Path(".lab/dvc.lock.broken")  # where a restored one leaves what it replaces
RWLOCK = Path(".dvc/tmp/rwlock")  # the table of who reads and writes which path
RWLOCK_GUARD = Path(".dvc/tmp/rwlock.lock")  # held while DVC changes the table


def locked_stages(text: str) -> dict[str, Any]:
    """The stages in the text of a dvc.lock, which DVC writes in place.

    Raises:
        ValueError: it has merge markers, is cut off, or is not a dvc.lock.
    """
    if MERGE_MARK.search(text):
        raise ValueError(MERGED)
    if not text.endswith("\n"):
        raise ValueError("its end is missing")
    try:
        document = YAML(typ="safe").load(text)
    except YAMLError as error:
        raise ValueError(str(getattr(error, "problem", error))) from None
    stages = document.get("stages") if isinstance(document, dict) else None
    if not isinstance(stages, dict) or not all(isinstance(each, dict) for each in stages.values()):
        raise ValueError("expected a mapping of stages")
    return stages


def restore_dvc_lock() -> str:
    """Put the last commit's dvc.lock in the place of a broken one, which is kept; say so."""
    BROKEN_DVC_LOCK.parent.mkdir(exist_ok=True)
    shutil.copy(DVC_LOCK, BROKEN_DVC_LOCK)
    command = ["git", "checkout", "HEAD", "--", str(DVC_LOCK)]
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    if ended.returncode:
        raise MachineError(ended.stderr)
    return f"{DVC_LOCK} is that of the last commit; the broken one is {BROKEN_DVC_LOCK}"


def lock_holders() -> dict[int, str]:
    """The commands in DVC's lock table by PID, whether or not they still run.

    Raises:
        ValueError: the table is damaged.
    """
    if not RWLOCK.exists():
        return {}
    table = json.loads(RWLOCK.read_bytes())
    try:
        readers = [entry for entries in table.get("read", {}).values() for entry in entries]
        entries = [*table.get("write", {}).values(), *readers]
        return {int(entry["pid"]): entry["cmd"] for entry in entries}
    except (AttributeError, KeyError, TypeError) as error:
        raise ValueError(f"{RWLOCK}: {error}") from None


def is_dvc(pid: int) -> bool:
    """True if the process runs and is DVC, not a zombie or a later process with the same PID."""
    try:
        return any("dvc" in word for word in psutil.Process(pid).cmdline())
    except psutil.AccessDenied:  # another user's
        return True
    except psutil.NoSuchProcess:
        return False


def clear_stale_dvc_locks() -> bool:
    """Delete DVC's lock table if it is damaged or names only dead processes; True if it was.

    DVC itself forgets dead processes, but not zombies (in a container whose first process reaps
    none) and not PIDs that other processes have by now (in a container that was restarted).
    """
    if not RWLOCK.exists():
        return False
    try:
        with FileLock(RWLOCK_GUARD, timeout=10):
            try:
                holders = lock_holders()
            except ValueError:
                is_stale = True
            else:
                is_stale = bool(holders) and not any(map(is_dvc, holders))
            if is_stale:
                RWLOCK.unlink()
            return is_stale
    except Timeout:
        return False
