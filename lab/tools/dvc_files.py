"""DVC's lock table, in which each DVC notes what it is doing so that others wait."""

import json
from pathlib import Path

import psutil
from filelock import FileLock, Timeout

RWLOCK = Path(".dvc/tmp/rwlock")  # the readers and writers of each path
RWLOCK_GUARD = Path(".dvc/tmp/rwlock.lock")  # held while DVC changes the table


def lock_holders() -> dict[int, str]:
    """Return the commands in DVC's lock table by PID, whether or not they still run.

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


def running() -> dict[int, str]:
    """Return the running commands in DVC's lock table by PID; none if it is damaged."""
    try:
        return {pid: command for pid, command in lock_holders().items() if is_dvc(pid)}
    except ValueError:
        return {}


def is_dvc(pid: int) -> bool:
    """Return whether the PID is a running DVC, not a zombie or a later process that reuses it."""
    try:
        return any("dvc" in word for word in psutil.Process(pid).cmdline())
    except psutil.AccessDenied:  # another user's
        return True
    except psutil.NoSuchProcess:
        return False


def clear_stale_dvc_locks() -> bool:
    """Delete DVC's lock table if it is damaged or names only dead processes; return whether it was.

    DVC itself drops dead processes, but neither zombies (in a container whose first process reaps
    none) nor PIDs that other processes have by now (in a restarted container).
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
