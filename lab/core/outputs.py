"""Write data and weights without overwriting a user's files: those get another name."""

import itertools
import logging
import os
from pathlib import Path

from lab.core.errors import DataError
from lab.core.files import sha256, write_atomically

WRITTEN = Path(".lab/written")  # an entry for each file that the lab wrote, named by its SHA-256

log = logging.getLogger(__name__)


def write_own(path: Path, content: bytes) -> None:
    """Write a file atomically, after noting that it is the lab's.

    Raises:
        DataError: as in `check_place`.
        SpaceError, MachineError: as in `write_atomically`.
    """
    check_place(path)
    digest = sha256(content)
    found = sha256(path.read_bytes()) if path.is_file() else digest
    if found != digest and not (WRITTEN / found).exists():
        set_aside(path)
    write_atomically(WRITTEN / digest, f"{path}\n".encode())
    write_atomically(path, content)


def set_aside(path: Path) -> None:
    """Rename a file that the lab did not write to NAME.1, or the next free name."""
    names = (path.with_name(f"{path.name}.{i}") for i in itertools.count(1))
    kept = next(name for name in names if not os.path.lexists(name))
    path.rename(kept)
    log.warning("%s was not written by the lab; it is kept as %s", path, kept)


def check_place(path: Path) -> None:
    """Raise DataError if a link on the way to a file leads out of the project."""
    for folder in reversed(path.parents):
        target = folder.resolve()
        if folder.is_symlink() and not target.is_relative_to(Path.cwd()):
            raise DataError(
                f"{folder}: a link to {target}, outside the project, where the lab must not write;"
                f" `rm {folder}`, and for data of your own `export LAB_DATA_MIRROR=FOLDER`"
            )
