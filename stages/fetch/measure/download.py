"""Fetch the data sets from your own mirror or the published ones, or draw look-alikes instead."""

import errno
import gzip
import logging
import zlib
from collections.abc import Callable
from pathlib import Path

import pooch
import requests

from lab.core.errors import DataError, LabError, MachineError, SpaceError
from lab.core.files import write_atomically, write_json
from lab.data import idx, synthetic
from lab.data.datasets import AIRFOIL_FILE, DATA, FASHION_COUNTS, RAW_FOLDER, SOURCE_FILE, sha256
from lab.data.sources import (
    AIRFOIL,
    FASHION_FILES,
    MIRROR_VARIABLE,
    DataParams,
    RemoteFile,
    is_address,
    own_mirror,
    sources,
)

# outside DVC's outputs, which are deleted before each run of the stage
DOWNLOADS = Path(".lab/downloads")
SYNTHETIC_SEED = 20170825  # fixed: the look-alikes are the same files everywhere

log = logging.getLogger(__name__)
pooch.get_logger().setLevel("WARNING")  # each source is logged here, once


class WrongContentError(DataError):
    """A source answered, but not with the published file."""


def fetch(params: DataParams) -> dict[str, str]:
    """Bring both data sets under data/; says of each whether it is `original` or `synthetic`.

    Raises:
        DataError: no source has a file, and one answered with other bytes, or LAB_DATA_MIRROR
            names a source, or the params say `if_unreachable: fail`.
        MachineError: a folder cannot be written to.
        SpaceError: the disk is full.
    """
    may_draw = params.if_unreachable == "synthetic" and not own_mirror()
    source = {
        "fashion_mnist": _original_or_synthetic(
            _fetch_fashion_mnist, _draw_fashion_mnist, params, may_draw
        ),
        "airfoil": _original_or_synthetic(_fetch_airfoil, _draw_airfoil, params, may_draw),
    }
    files = [*(RAW_FOLDER / _unpacked_name(file) for file in FASHION_FILES), AIRFOIL_FILE]
    hashes = {file.as_posix(): sha256((DATA / file).read_bytes()) for file in files}
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
        raise  # other bytes than the published ones: no case for look-alikes, somebody should look
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
    mirrors = params.mirrors.fashion_mnist
    contents = [download(file, mirrors, params.timeout_s) for file in FASHION_FILES]
    for file, content in zip(FASHION_FILES, contents, strict=True):
        try:
            unpacked = gzip.decompress(content)
        except (OSError, EOFError, zlib.error) as error:
            raise WrongContentError(f"{file.name}: damaged ({error}); run again") from None
        write_atomically(DATA / RAW_FOLDER / _unpacked_name(file), unpacked)


def _fetch_airfoil(params: DataParams) -> None:
    content = download(AIRFOIL, params.mirrors.airfoil, params.timeout_s)
    write_atomically(DATA / AIRFOIL_FILE, content)


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


def download(file: RemoteFile, mirrors: list[str], timeout_s: float) -> bytes:
    """The published bytes of a file, from the first source that has them.

    `timeout_s` bounds how long a source may be silent.

    Raises:
        WrongContentError: no source had it, and at least one answered with something else.
        DataError: no source was reached.
        MachineError: the downloads' folder cannot be written to.
        SpaceError: the disk is full.
    """
    tried: list[str] = []
    wrong = False
    for source in sources(file, mirrors):
        try:
            content = _read(source, file, timeout_s)
        except (requests.RequestException, FileNotFoundError, NotADirectoryError) as error:
            tried.append(f"{source}: {_reason(error)}")
        except ValueError:  # pooch's, of a wrong hash
            tried.append(f"{source}: other bytes than the published ones (SHA-256)")
            wrong = True
        except OSError as error:
            raise _not_written(error) from None
        else:
            return content
        log.info("%s", tried[-1])
    what = f"{file.name}: no source has it ({'; '.join(tried) or 'data.mirrors is empty'})"
    to_do = f"point {MIRROR_VARIABLE} at a folder that holds {file.folder}/{file.name}"
    if wrong:
        raise WrongContentError(f"{what}; a login page or a damaged copy? {to_do}")
    raise DataError(f"{what}; {to_do}")


def _read(source: str, file: RemoteFile, timeout_s: float) -> bytes:
    """A source's bytes; ValueError if they are not the published ones."""
    if is_address(source):
        log.info("downloading %s", source)
        path = pooch.retrieve(
            source,
            f"sha256:{file.sha256}",
            file.name,
            DOWNLOADS / file.folder,
            downloader=pooch.HTTPDownloader(timeout=timeout_s),
        )
        return Path(path).read_bytes()
    content = Path(source).read_bytes()
    if sha256(content) != file.sha256:
        raise ValueError
    return content


def _reason(error: OSError) -> str:
    """Why a source gives nothing, in place of the library's account of its attempts."""
    if isinstance(error, requests.Timeout):
        return "no answer in time"
    if isinstance(error, requests.ConnectionError):
        return "not reached"
    return error.strerror or str(error)


def _not_written(error: OSError) -> LabError:
    where = error.filename or DOWNLOADS
    if error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
        return SpaceError(f"{where}: no space ({error.strerror}); free some and run again")
    return MachineError(
        f"{where}: cannot be read or written ({error.strerror}); mend the permissions, or work in a"
        " clone of your own"
    )


def _unpacked_name(file: RemoteFile) -> str:
    return file.name.removesuffix(".gz")
