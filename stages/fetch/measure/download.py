"""Fetch the data sets from your own or the published mirrors, or draw look-alikes instead."""

import logging
from collections.abc import Callable, Sequence
from pathlib import Path

import pooch
import requests

from lab.core.errors import DataError
from lab.core.files import not_written, sha256, write_json
from lab.core.outputs import set_aside, write_own
from lab.data import idx, synthetic
from lab.data.datasets import DATA, FASHION_COUNTS, RAW_FOLDER, SOURCE_FILE, read_source
from lab.data.sources import (
    AIRFOIL,
    FASHION_FILES,
    MIRROR_VARIABLE,
    DataParams,
    RemoteFile,
    check_places,
    is_address,
    own_mirror,
    sources,
)

DOWNLOADS = Path(".lab/downloads")  # outside DVC's outputs
SYNTHETIC_SEED = 20170825  # fixed: the look-alikes are the same files everywhere

log = logging.getLogger(__name__)
pooch.get_logger().setLevel("WARNING")  # this module logs each source once


class WrongContentError(DataError):
    """A source answered, but not with the published file."""


def fetch(params: DataParams) -> dict[str, str]:
    """Put both data sets into data/; return whether each is `original` or `synthetic`.

    Published files that are there already are used as they are.

    Raises:
        DataError: `data` is a link out of the project; or no source has a file, and one answered
            with other bytes, or LAB_DATA_MIRROR names a source, or part of the set is there
            already, or the params say `if_unreachable: fail`.
        MachineError: a folder cannot be written to.
        SpaceError: the disk is full.
    """
    check_places()
    try:
        _withdraw_source()  # until all files are what source.json says
    except OSError as error:
        raise not_written(error, Path(error.filename or DOWNLOADS)) from None
    source = {
        "fashion_mnist": _original_or_synthetic(
            FASHION_FILES, params.mirrors.fashion_mnist, _draw_fashion_mnist, params
        ),
        "airfoil": _original_or_synthetic([AIRFOIL], params.mirrors.airfoil, _draw_airfoil, params),
    }
    files = [file.path for file in (*FASHION_FILES, AIRFOIL)]
    hashes = {file.relative_to(DATA).as_posix(): sha256(file.read_bytes()) for file in files}
    write_json(DATA / SOURCE_FILE, source | {"sha256": hashes})
    return source


def _withdraw_source() -> None:
    """Delete data/source.json; set it aside if `fetch` did not write it."""
    path = DATA / SOURCE_FILE
    try:
        read_source()
    except DataError:
        if path.exists():
            set_aside(path)
    path.unlink(missing_ok=True)


def _original_or_synthetic(
    files: Sequence[RemoteFile], mirrors: list[str], draw: Callable[[], None], params: DataParams
) -> str:
    lacking = [file for file in files if not file.lies_at(file.path)]
    if not lacking:
        log.info("%s: the published data are here, and used as they are", files[0].path.parent)
    try:
        contents = [download(file, mirrors, params.timeout_s) for file in lacking]
    except WrongContentError:
        raise  # other bytes than the published ones: somebody should look, so draw no look-alikes
    except DataError as error:
        has_part = len(lacking) < len(files) or any(file.packed_beside for file in files)
        if params.if_unreachable == "fail" or own_mirror() or has_part:
            raise
        log.warning("%s", error)
        log.warning(
            "WARNING: drawing a SYNTHETIC look-alike instead; everything made from it will say so"
        )
        draw()
        return "synthetic"
    for file, content in zip(lacking, contents, strict=True):
        write_own(file.path, content)
    return "original"


def _draw_fashion_mnist() -> None:
    for offset, (half, count) in enumerate(FASHION_COUNTS.items()):
        images, labels = synthetic.fashion(count, SYNTHETIC_SEED + offset)
        write_own(DATA / RAW_FOLDER / f"{half}-images-idx3-ubyte", idx.encode(images))
        write_own(DATA / RAW_FOLDER / f"{half}-labels-idx1-ubyte", idx.encode(labels))


def _draw_airfoil() -> None:
    lines = [
        "\t".join(f"{value:.6g}" for value in row) for row in synthetic.airfoil(SYNTHETIC_SEED)
    ]
    write_own(AIRFOIL.path, ("\n".join(lines) + "\n").encode())


def download(file: RemoteFile, mirrors: list[str], timeout_s: float) -> bytes:
    """Return the unpacked bytes of a published file, from the first source that has it.

    `timeout_s` limits how long a source may be silent.

    Raises:
        WrongContentError: no source had the file, and at least one answered with something else.
        DataError: no source was reached.
        MachineError: the downloads' folder cannot be written to.
        SpaceError: the disk is full.
    """
    tried: list[str] = []
    wrong = False
    for source in sources(file, mirrors):
        try:
            content = file.unpacked(_read(source, file, timeout_s))
        except (requests.RequestException, FileNotFoundError, NotADirectoryError) as error:
            tried.append(f"{source}: {_reason(error)}")
        except ValueError:  # a wrong hash
            tried.append(f"{source}: other bytes than the published ones (SHA-256)")
            wrong = True
        except OSError as error:
            raise not_written(error, Path(error.filename or DOWNLOADS)) from None
        else:
            return content
        log.info("%s", tried[-1])
    what = f"{file.name}: no source has it ({'; '.join(tried) or 'data.mirrors is empty'})"
    to_do = (
        f"put it into {file.path.parent}, or point {MIRROR_VARIABLE} at a folder that holds"
        f" {file.folders[0]}/{file.name}"
    )
    if wrong:
        raise WrongContentError(f"{what}; a login page or a damaged copy? {to_do}")
    raise DataError(f"{what}; {to_do}")


def _read(source: str, file: RemoteFile, timeout_s: float) -> bytes:
    """Return a source's bytes; raise ValueError if an address has other bytes than published."""
    if is_address(source):
        log.info("downloading %s", source)
        path = pooch.retrieve(
            source,
            f"sha256:{file.sha256}",
            file.name,
            DOWNLOADS / file.folders[0],
            downloader=pooch.HTTPDownloader(timeout=timeout_s),
        )
        return Path(path).read_bytes()
    return Path(source).read_bytes()


def _reason(error: OSError) -> str:
    """Return briefly why a source failed, instead of the library's account of its attempts."""
    if isinstance(error, requests.Timeout):
        return "no answer in time"
    if isinstance(error, requests.ConnectionError):
        return "not reached"
    return error.strerror or str(error)
