"""What DVC keeps under .dvc: its settings, who works on which file, and whether it runs at all."""

import configparser
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from importlib.metadata import version
from pathlib import Path

import psutil
from filelock import FileLock
from pydantic import BaseModel, ConfigDict

from lab.core.files import MOST_BYTES, read_regular, write_json
from lab.tools.doctor.finding import FIX, Finding, fail, note, ok, warn

CONFIG, OWN_CONFIG = Path(".dvc/config"), Path(".dvc/config.local")  # the latter counts
BUSY_FILE = Path(".dvc/tmp/rwlock")  # who works on which file, for other DVCs
GUARD = Path(".dvc/tmp/rwlock.lock")  # DVC holds it while it changes that

UNREADABLE = (configparser.Error, UnicodeDecodeError)


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)


def settings() -> Iterator[Finding]:
    """DVC's settings can be read, and keep it from asking the network."""
    if not CONFIG.parent.is_dir():
        yield fail(".dvc is missing, without which DVC knows no project", "git checkout -- .dvc")
        return
    for path in (CONFIG, OWN_CONFIG):
        try:
            _read_settings(path)
        except UNREADABLE as error:
            command = f"git checkout -- {path}" if path == CONFIG else f"rm {path}"
            yield fail(f"{path} cannot be read ({error})", command)
            return
    for key in ("analytics", "check_update"):
        if setting("core", key).lower() != "false":
            yield note(f"DVC's {key} asks the network", f"dvc config core.{key} false")


def setting(section: str, key: str) -> str:
    """What this project sets for DVC, empty if nothing."""
    try:
        return _read_settings(CONFIG, OWN_CONFIG).get(section, key, fallback="").strip()
    except UNREADABLE:
        return ""


def _read_settings(*paths: Path) -> configparser.ConfigParser:
    parser = configparser.ConfigParser(interpolation=None)
    parser.read(paths, encoding="utf-8")
    return parser


class Worker(_Strict):
    """A DVC that works on something."""

    pid: int
    cmd: str


class Busy(_Strict):
    """What DVCs work on, by path."""

    write: dict[str, Worker] = {}
    read: dict[str, list[Worker]] = {}

    def workers(self) -> dict[int, str]:
        """Each DVC's number and command."""
        everybody = [*self.write.values(), *(each for at in self.read.values() for each in at)]
        return {each.pid: each.cmd for each in everybody}

    def without(self, pid: int) -> "Busy":
        """The same after a DVC has ended."""
        write = {path: each for path, each in self.write.items() if each.pid != pid}
        read = {path: [each for each in at if each.pid != pid] for path, at in self.read.items()}
        return Busy(write=write, read={path: at for path, at in read.items() if at})


def who_is_busy() -> Iterator[Finding]:
    """No DVC that is gone keeps others from working."""
    if not BUSY_FILE.exists():
        return
    try:
        workers = Busy.model_validate_json(read_regular(BUSY_FILE, MOST_BYTES)).workers()
    except (OSError, ValueError):
        yield _damaged()
        return
    for pid, command in sorted(workers.items()):
        if _holds(pid):
            yield note(f"`{command}` runs here (PID {pid}); other DVCs say that it is busy")
        else:
            yield warn(
                f"{BUSY_FILE} says that `{command}` runs here (PID {pid}), which is gone",
                FIX,
                mend=_forget(pid),
            )


def forget_the_gone() -> bool:
    """Forget DVCs that have ended without saying so; whether there were any.

    DVC forgets them itself, unless nobody has reaped them yet, as a container's first process may
    take seconds to do, or never does.
    """
    mends = [finding.mend for finding in who_is_busy() if finding.mend]
    for mend in mends:
        mend()
    return bool(mends)


def _damaged() -> Finding:
    what = f"{BUSY_FILE} is damaged, and DVC refuses to work"
    if running := next(_dvc_here(), None):
        return fail(f"{what}; first end the one that runs here", f"kill {running.pid}")
    return fail(what, f"rm {BUSY_FILE}", mend=_forget_all)


def _holds(pid: int) -> bool:
    """Whether a process is the one that was written down: not a later one with the same number."""
    try:
        process = psutil.Process(pid)
        if not _is_dvc(process):
            return False
        return process.create_time() <= BUSY_FILE.stat().st_mtime or _is_here(process)
    except psutil.NoSuchProcess:
        return False
    except psutil.AccessDenied:
        return True  # another user's


def _is_dvc(process: psutil.Process) -> bool:
    return "dvc" in [Path(word).name for word in process.cmdline()[:4]]


def _is_here(process: psutil.Process) -> bool:
    return Path(process.cwd()).is_relative_to(Path.cwd())


def _dvc_here() -> Iterator[psutil.Process]:
    """The DVCs that run in this project."""
    for process in psutil.process_iter():
        try:
            if _is_dvc(process) and _is_here(process):
                yield process
        except psutil.Error:
            continue


def _forget_all() -> str:
    BUSY_FILE.unlink()
    return f"{BUSY_FILE} is deleted; DVC makes it anew"


def _forget(pid: int) -> Callable[[], str]:
    def forget() -> str:
        with FileLock(GUARD, timeout=10):
            busy = Busy.model_validate_json(BUSY_FILE.read_bytes()).without(pid)
            write_json(BUSY_FILE, busy.model_dump(exclude_defaults=True))
        return f"{BUSY_FILE} no longer knows PID {pid}"

    return forget


def dvc_itself() -> Iterator[Finding]:
    """DVC reads all that is its own: settings, dvc.yaml, dvc.lock, params.yaml."""
    result = subprocess.run(
        [sys.executable, "-m", "dvc", "stage", "list", "--name-only"],
        capture_output=True,
        text=True,
        errors="replace",
        check=False,
        timeout=300,
        env=os.environ | {"LC_ALL": "C.UTF-8"},
    )
    if result.returncode:
        lines = [line for line in result.stderr.splitlines() if line.strip()] or ["no reason given"]
        yield fail(f"DVC does not work here: {' '.join(lines)[:300]}", "dvc stage list")
    else:
        yield ok(f"DVC {version('dvc')} knows {len(result.stdout.splitlines())} stages")


CHECKS = (settings, who_is_busy, dvc_itself)
