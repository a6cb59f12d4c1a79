"""What killed processes left: nothing that does harm, but files that nobody needs."""

import os
import platform
import re
import shutil
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import psutil
from filelock import FileLock, Timeout

from lab.core.params import PARAMS_FILE

DOWNLOADS = FETCHING = __import__("pathlib").Path(".lab/downloads")
from lab.tools.doctor.finding import FIX, Finding, note, some, warn
from lab.tools.doctor.lock_file import section

PART = re.compile(r"\.part-(\d+)(?:-[0-9a-f]+)?$")  # as lab.core.files names what it writes
FOLDERS = ("reports", "data", "models", "profiles", ".lab")
CHECKPOINTS = Path(".lab/checkpoints")
RANKS = Path(".lab/ranks")  # a folder for each launcher: host and process
DAY_S = 86_400


def parts() -> Iterator[Finding]:
    """Files that were being written when their process ended."""
    found = [
        path for path in _files() if (match := PART.search(path.name)) and _ended(match[1], path)
    ]
    if found:
        yield warn(f"{_sized(found)}, half written by processes that are gone", FIX, _delete(found))


def _files() -> Iterator[Path]:
    yield from (path for path in Path().iterdir() if path.is_file())
    for top in FOLDERS:
        for folder, _, names in os.walk(top):
            yield from (Path(folder, name) for name in names)


def _ended(number: str, path: Path) -> bool:
    """Whether the process that made a file ended; a later one may have the same number."""
    try:
        return psutil.Process(int(number)).create_time() > path.stat().st_mtime + 1
    except (psutil.NoSuchProcess, OverflowError):
        return True
    except (psutil.AccessDenied, FileNotFoundError):
        return False


def downloads() -> Iterator[Finding]:
    """Parts of downloads; fetches that run now hold a lock."""
    found = list(DOWNLOADS.glob("*/tmp*"))
    if not found:
        return

    def delete() -> str:
        with FileLock(FETCHING, timeout=0):
            return _delete(found)()

    try:
        with FileLock(FETCHING, timeout=0):
            pass
    except Timeout:
        return
    yield warn(f"{_sized(found)}, of downloads that were ended", FIX, delete)


def launches() -> Iterator[Finding]:
    """Folders of launchers of several processes that are gone."""
    of_this_host = re.compile(re.escape(platform.node()) + r"-(\d+)")
    found = [
        path
        for path in RANKS.glob("*")
        if (match := of_this_host.fullmatch(path.name)) and _ended(match[1], path)
    ]
    found += _launches_in_temporary_folder()
    if found:
        yield warn(f"{_sized(found)}, of launchers that are gone", FIX, _delete(found))


def _launches_in_temporary_folder() -> list[Path]:
    """What torch's launcher left there in earlier versions of the lab: ours, by runs' names."""
    used = "\n".join(_environments())
    runs = set(section(PARAMS_FILE, "train", "runs"))
    return [
        path
        for path in Path(tempfile.gettempdir()).glob("torchelastic_*")
        if path.stat().st_uid == os.getuid()
        and str(path) not in used
        and {each.name.rpartition("_")[0] for each in path.iterdir()} & runs
    ]


def _environments() -> Iterator[str]:
    """Where processes of torch's launcher that live now report errors to."""
    for process in psutil.process_iter():
        try:
            yield process.environ().get("TORCHELASTIC_ERROR_FILE", "")
        except psutil.Error:
            continue


def checkpoints() -> Iterator[Finding]:
    """Runs that have not ended: each goes on with the same command, if nothing of it changed."""
    for folder in sorted(path for path in CHECKPOINTS.glob("*") if path.is_dir()):
        days = (time.time() - folder.stat().st_mtime) / DAY_S
        yield note(
            f"{_sized([folder])}: a run that did not end, {days:.0f} days ago; it goes on if it is"
            " run again as it was, or is not needed",
            f"rm -r {folder}",
        )


def _delete(paths: Iterable[Path]) -> Callable[[], str]:
    def delete() -> str:
        for path in paths:
            if path.is_dir() and not path.is_symlink():
                shutil.rmtree(path)
            else:
                path.unlink(missing_ok=True)
        return f"deleted {some([str(path) for path in paths], 10)}"

    return delete


def _sized(paths: list[Path]) -> str:
    """The paths, and how much they hold."""
    files = [file for path in paths for file in (path, *path.rglob("*")) if file.is_file()]
    megabytes = sum(file.lstat().st_size for file in files) / 1e6
    return f"{some([str(path) for path in paths])} ({megabytes:.1f} MB)"


CHECKS = (parts, downloads, launches, checkpoints)
