"""Whose file lies where the lab writes one: the lab replaces its own files, and never a user's.

Its own are those that it wrote, by the SHA-256 that it notes before it writes, so that a kill in
between makes none of them a stranger's; and those that DVC's cache has, which can be brought back.
"""

import functools
import hashlib
import os
import subprocess
import sys
from collections.abc import Collection, Iterable
from pathlib import Path

from lab.core.errors import DataError
from lab.core.files import sha256, write_atomically

WRITTEN = Path(".lab/written")  # a file for each, named by its SHA-256


def write_own(path: Path, content: bytes) -> None:
    """Write a file whole or not at all, and note before that it is the lab's.

    Raises:
        SpaceError, MachineError: as in `write_atomically`.
    """
    write_atomically(WRITTEN / sha256(content), f"{path}\n".encode())
    write_atomically(path, content)


def objection(path: Path, known: Collection[str] = (), instead: str = "") -> str:
    """Say why the lab must not write a file there, and what to do; nothing if it may.

    Args:
        path: of the file, under the working directory.
        known: the SHA-256 of files that are welcome there, whoever put them.
        instead: what to do in place of a link to another folder.
    """
    for folder in reversed(path.parents):
        target = folder.resolve()
        if folder.is_symlink() and not target.is_relative_to(Path.cwd()):
            return (
                f"{folder}: a link to {target}, outside the project, where the lab must not write;"
                f" `rm {folder}`{instead and f' and {instead}'}"
            )
    others = [folder for folder in path.parents if os.path.lexists(folder) and not folder.is_dir()]
    if not others and os.path.lexists(path) and not _is_own(path, known):
        others = [path]
    if not others:
        return ""
    return (
        f"{others[0]}: damaged, or not written by the lab, and a run would replace it; move it,"
        " then run again"
    )


def refuse(objections: Iterable[str]) -> None:
    """Raise DataError if there are objections, with a line for each."""
    if lines := dict.fromkeys(filter(None, objections)):
        raise DataError("\n".join(lines))


def _is_own(path: Path, known: Collection[str]) -> bool:
    try:
        content = path.read_bytes()
    except OSError:  # a folder, a link to nothing, or another user's
        return False
    digest = sha256(content)
    if digest in known or (WRITTEN / digest).exists():
        return True
    cache = _dvc_cache(Path.cwd())
    md5 = hashlib.md5(content, usedforsecurity=False).hexdigest()
    return cache is not None and (cache / "files" / "md5" / md5[:2] / md5[2:]).exists()


@functools.cache
def _dvc_cache(project: Path) -> Path | None:
    """DVC's cache, which may lie anywhere; None where there is no DVC."""
    command = [sys.executable, "-m", "dvc", "cache", "dir"]
    answer = subprocess.run(command, cwd=project, capture_output=True, text=True, check=False)
    return None if answer.returncode else project / answer.stdout.strip()
