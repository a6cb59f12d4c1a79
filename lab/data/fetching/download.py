"""Fetching the data sets: from your own mirror or the published ones, or look-alikes instead.

pooch checks files against pinned hashes, caches them and moves them into place. Added here: one
fetch at a time, folders that are ours to write to, and one line that says what each source
answered.
"""

import errno
import logging
import os
import stat
import tempfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pooch
from filelock import FileLock, Timeout

from lab.core.errors import DataError, LabError, MachineError, SpaceError
from lab.core.files import write_atomically, write_json
from lab.data import idx, synthetic
from lab.data.datasets import AIRFOIL_FILE, DATA, FASHION_COUNTS, RAW_FOLDER, SOURCE_FILE, sha256
from lab.data.fetching.source_reader import (
    UnreachableError,
    WrongAnswerError,
    read_address,
    read_folder,
)
from lab.data.fetching.sources import (
    AIRFOIL,
    FASHION_FILES,
    MIRROR_VARIABLE,
    DataParams,
    RemoteFile,
    is_address,
    own_mirror,
    shown,
    sources,
)

# outside DVC's outputs, which are deleted before each run of the stage
DOWNLOADS = Path(".lab/downloads")
LOCK_FILE = Path(".lab/downloads.lock")
LONGEST_WAIT_S = 600  # for another fetch; this one may take nearly as long with four slow mirrors
SYNTHETIC_SEED = 20170825  # fixed: the look-alikes are the same files everywhere
FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)

log = logging.getLogger(__name__)
pooch.get_logger().setLevel("WARNING")  # each source is logged here, once


class WrongContentError(DataError):
    """A source answered, but not with the published file."""


def fetch(params: DataParams) -> dict[str, str]:
    """Bring both data sets under data/; says of each whether it is `original` or `synthetic`.

    Raises:
        DataError: no source has a file, and one answered with other bytes, or LAB_DATA_MIRROR
            names a source, or the params say `if_unreachable: fail`; or a folder is none, or leads
            out of the project; or another fetch does not end.
        MachineError: a folder cannot be written to.
        SpaceError: the disk is full.
    """
    may_draw = params.if_unreachable == "synthetic" and not own_mirror()
    for folder in (DOWNLOADS, DATA, DATA / RAW_FOLDER, DATA / AIRFOIL_FILE.parent):
        _require_inside(folder)
        _require_writable(folder)
    with _alone():
        _sweep()
        source = {
            "fashion_mnist": _original_or_synthetic(
                _fetch_fashion_mnist, _draw_fashion_mnist, params, may_draw
            ),
            "airfoil": _original_or_synthetic(_fetch_airfoil, _draw_airfoil, params, may_draw),
        }
        hashes = {
            file.relative_to(DATA).as_posix(): sha256(file.read_bytes()) for file in _targets()
        }
        write_json(DATA / SOURCE_FILE, source | {"sha256": hashes})
    return source


def _original_or_synthetic(
    fetch_original: Callable[[DataParams], None],
    draw: Callable[[], None],
    params: DataParams,
    may_draw: bool,
) -> str:
    try:
        fetch_original(params)
    except WrongContentError:
        raise  # a source answers with other bytes: no case for a substitute, somebody should look
    except DataError as error:
        if not may_draw:
            raise
        log.warning("%s", error)
        log.warning(
            "WARNING: drawing a SYNTHETIC look-alike instead; everything made from it will say so"
        )
        draw()
        return "synthetic"
    return "original"


def _fetch_fashion_mnist(params: DataParams) -> None:
    contents = [
        _download(file, params.mirrors.fashion_mnist, params.timeout_s) for file in FASHION_FILES
    ]
    for file, content in zip(FASHION_FILES, contents, strict=True):
        write_atomically(DATA / RAW_FOLDER / _unpacked_name(file), unpacked(content, file))


def _fetch_airfoil(params: DataParams) -> None:
    write_atomically(
        DATA / AIRFOIL_FILE, _download(AIRFOIL, params.mirrors.airfoil, params.timeout_s)
    )


def _draw_fashion_mnist() -> None:
    for offset, (half, count) in enumerate(FASHION_COUNTS.items()):
        images, labels = synthetic.fashion(count, SYNTHETIC_SEED + offset)
        write_atomically(DATA / RAW_FOLDER / f"{half}-images-idx3-ubyte", idx.encode(images))
        write_atomically(DATA / RAW_FOLDER / f"{half}-labels-idx1-ubyte", idx.encode(labels))


def _draw_airfoil() -> None:
    lines = [
        "\t".join(f"{value:.6g}" for value in row) for row in synthetic.airfoil(SYNTHETIC_SEED)
    ]
    write_atomically(DATA / AIRFOIL_FILE, ("\n".join(lines) + "\n").encode())


def _download(file: RemoteFile, mirrors: list[str], timeout_s: float) -> bytes:
    """The published bytes of a file, from the first source that has them.

    Raises:
        WrongContentError: no source had it, and at least one answered with something else.
        DataError: no source was reached.
    """

    def read(source: str, part: str, _: pooch.Pooch | None) -> None:
        if is_address(source):
            log.info("downloading %s", shown(source))
            content = read_address(source, file.size, timeout_s)
        else:
            content = read_folder(Path(source), file.size)
        if (found := sha256(content)) != file.sha256:
            raise WrongAnswerError(f"its SHA-256 is {found}, expected {file.sha256}")
        Path(part).write_bytes(content)

    tried: list[str] = []
    wrong = False
    for source in sources(file, mirrors):
        try:
            path = pooch.retrieve(
                source, f"sha256:{file.sha256}", file.name, DOWNLOADS / file.folder, downloader=read
            )
            return Path(path).read_bytes()
        except UnreachableError as error:
            tried.append(f"{shown(source)}: {error}")
        except (WrongAnswerError, ValueError) as error:  # pooch's, of the bytes on the disk
            tried.append(f"{shown(source)}: {error}")
            wrong = True
        except OSError as error:
            raise _not_written(DOWNLOADS / file.folder, error) from None
        log.info("%s", tried[-1])
    what = f"{file.name}: no source has it ({'; '.join(tried) or 'data.mirrors is empty'})"
    to_do = f"point {MIRROR_VARIABLE} at a folder that holds {file.folder}/{file.name}"
    if wrong:
        raise WrongContentError(f"{what}; a login page or a damaged copy? {to_do}")
    raise DataError(f"{what}; {to_do}")


def unpacked(content: bytes, file: RemoteFile) -> bytes:
    """What a published file holds; no more is unpacked than should be there.

    Raises:
        WrongContentError: damaged, or it holds less or more.
    """
    unpacker = zlib.decompressobj(wbits=zlib.MAX_WBITS | 16)
    try:
        found = unpacker.decompress(content, file.unpacked_size + 1)
        whole = len(found) == file.unpacked_size and unpacker.eof
        problem = "" if whole else f"expected {file.unpacked_size} bytes in it"
    except zlib.error as error:
        problem = str(error)
    if problem:
        raise WrongContentError(
            f"{file.name}: damaged gzip ({problem}); delete {DOWNLOADS} and run again"
        )
    return found


@contextmanager
def _alone() -> Iterator[None]:
    """Have other fetches of this tree wait until this one ends, however it does.

    Raises:
        DataError: another one does not end.
    """
    lock = FileLock(LOCK_FILE)
    try:
        if not _taken(lock, 0):
            log.info("another process fetches the data here; waiting for it")
            if not _taken(lock, LONGEST_WAIT_S):
                raise DataError(
                    f"{LOCK_FILE}: another process fetches for over {LONGEST_WAIT_S} s; stop it"
                )
        yield
    finally:
        lock.release()


def _taken(lock: FileLock, timeout_s: float) -> bool:
    try:
        lock.acquire(timeout=timeout_s)
    except Timeout:
        return False
    except OSError as error:
        raise _not_written(LOCK_FILE, error) from None
    return True


def _sweep() -> None:
    """Delete the parts of downloads that fetches left when they were killed; none runs now.

    What lies in a download's place and is not of its kind and size goes, too, unread: it may have
    no end.
    """
    parts = list(DOWNLOADS.glob("*/tmp*"))  # pooch's names
    for file in (*FASHION_FILES, AIRFOIL):
        kept = DOWNLOADS / file.folder / file.name
        if os.path.lexists(kept):
            found = kept.lstat()
            if not stat.S_ISREG(found.st_mode) or found.st_size != file.size:
                parts.append(kept)
    for part in parts:
        try:
            part.unlink()
        except OSError as error:
            raise _not_written(part, error) from None


def _targets() -> list[Path]:
    names = [RAW_FOLDER / _unpacked_name(file) for file in FASHION_FILES]
    return [DATA / name for name in (*names, AIRFOIL_FILE)]


def _require_inside(folder: Path) -> None:
    """No link may have the data written somewhere else.

    Raises:
        DataError: the folder is outside of the project.
    """
    here, there = Path.cwd().resolve(), Path(os.path.realpath(folder))
    if not there.is_relative_to(here):
        raise DataError(
            f"{folder}: leads to {there}, which is not in {here}; put a folder in the place of the"
            " link"
        )


def _require_writable(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            pass
    except (FileExistsError, NotADirectoryError) as error:
        raise DataError(
            f"{folder}: cannot be written ({error.filename} is no folder); move it away"
        ) from None
    except OSError as error:
        raise _not_written(folder, error) from None


def _not_written(folder: Path, error: OSError) -> LabError:
    """The error for a folder, or a file in it, that the operating system does not let us write."""
    if error.errno in FULL:
        return SpaceError(f"{folder}: no space ({error.strerror}); free some and run again")
    try:
        at = Path(error.filename or folder).parent
        owner = f"; {at} belongs to {at.owner()}"
    except (OSError, KeyError, NotImplementedError):  # a user without a name; Windows
        owner = ""
    return MachineError(
        f"{folder}: cannot be written ({error.strerror}{owner}); work in a clone of your own, or"
        " mend the permissions"
    )


def _unpacked_name(file: RemoteFile) -> str:
    return file.name.removesuffix(".gz")
