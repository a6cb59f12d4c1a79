"""Fetching the data sets: from your own mirror or the published ones, or look-alikes instead.

pooch checks files against pinned hashes, caches them and moves them into place. Added here: bounds
on size and time, folders as sources, and one line that says what each source answered.
"""

import errno
import gzip
import logging
import os
import shutil
import time
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

import pooch
import requests
from pydantic import Field

from lab.core.errors import DataError, SpaceError
from lab.core.files import write_atomically, write_json
from lab.core.params import Section
from lab.data import idx, synthetic
from lab.data.datasets import AIRFOIL_FILE, DATA, FASHION_COUNTS, RAW_FOLDER, SOURCE_FILE, sha256

# outside DVC's outputs, which are deleted before each run of the stage
DOWNLOADS = Path(".lab/downloads")
MIRROR_VARIABLE = "LAB_DATA_MIRROR"
SYNTHETIC_SEED = 20170825  # fixed: the look-alikes are the same files everywhere

log = logging.getLogger(__name__)
pooch.get_logger().setLevel("WARNING")  # each source is logged here, once


@dataclass(frozen=True)
class RemoteFile:
    """A file as published. `folder` is where it lies under LAB_DATA_MIRROR."""

    folder: str
    name: str
    size: int
    sha256: str


FASHION_FILES = (
    RemoteFile(
        "fashion-mnist",
        "train-images-idx3-ubyte.gz",
        26_421_880,
        "3aede38d61863908ad78613f6a32ed271626dd12800ba2636569512369268a84",
    ),
    RemoteFile(
        "fashion-mnist",
        "train-labels-idx1-ubyte.gz",
        29_515,
        "a04f17134ac03560a47e3764e11b92fc97de4d1bfaf8ba1a3aa29af54cc90845",
    ),
    RemoteFile(
        "fashion-mnist",
        "t10k-images-idx3-ubyte.gz",
        4_422_102,
        "346e55b948d973a97e58d2351dde16a484bd415d4595297633bb08f03db6a073",
    ),
    RemoteFile(
        "fashion-mnist",
        "t10k-labels-idx1-ubyte.gz",
        5_148,
        "67da17c76eaffca5446c3361aaab5c3cd6d1c2608764d35dfb1850b086bf8dd5",
    ),
)
AIRFOIL = RemoteFile(
    "airfoil",
    "airfoil_self_noise.dat",
    59_984,
    "74c75fd71783f1e6b71f8a622b993dc592897a97cd689c5090a07147a1b097b3",
)

Url = Annotated[str, Field(pattern=r"^https?://[^\s]+$")]


class MirrorParams(Section):
    """Base addresses, tried in order; a file's name is appended to each."""

    fashion_mnist: list[Url]
    airfoil: list[Url]


class DataParams(Section):
    """The `data` section of params.yaml."""

    mirrors: MirrorParams
    timeout_s: Annotated[int, Field(ge=1, le=3600)]
    if_unreachable: Literal["synthetic", "fail"]


class WrongContentError(DataError):
    """A source answered, but not with the published file."""


def fetch(params: DataParams, root: Path = DATA) -> dict[str, str]:
    """Bring both data sets under `root`; says of each whether it is `original` or `synthetic`.

    Raises:
        DataError: `root` cannot be written; or no source has a file, and one answered with other
            bytes or the params say `if_unreachable: fail`.
    """
    for folder in (root, DOWNLOADS):
        _require_writable(folder)
    source = {
        "fashion_mnist": _original_or_synthetic(
            _fetch_fashion_mnist, _draw_fashion_mnist, params, root
        ),
        "airfoil": _original_or_synthetic(_fetch_airfoil, _draw_airfoil, params, root),
    }
    files = [root / RAW_FOLDER / _unpacked(file) for file in FASHION_FILES] + [root / AIRFOIL_FILE]
    hashes = {file.relative_to(root).as_posix(): sha256(file.read_bytes()) for file in files}
    write_json(root / SOURCE_FILE, source | {"sha256": hashes})
    return source


def sources(file: RemoteFile, mirrors: list[str]) -> list[str]:
    """Where to look for a file: first LAB_DATA_MIRROR, a folder or an address, then the mirrors."""
    own = os.environ.get(MIRROR_VARIABLE)
    first = [f"{own.rstrip('/')}/{file.folder}/{file.name}"] if own else []
    return first + [f"{mirror.rstrip('/')}/{file.name}" for mirror in mirrors]


def _original_or_synthetic(
    fetch_original: Callable[[DataParams, Path], None],
    draw: Callable[[Path], None],
    params: DataParams,
    root: Path,
) -> str:
    try:
        fetch_original(params, root)
    except WrongContentError:
        raise  # a source answers with other bytes: no case for a substitute, somebody should look
    except DataError as error:
        if params.if_unreachable == "fail":
            raise
        log.warning("%s", error)
        log.warning(
            "WARNING: drawing a SYNTHETIC look-alike instead; everything made from it will say so"
        )
        draw(root)
        return "synthetic"
    return "original"


def _fetch_fashion_mnist(params: DataParams, root: Path) -> None:
    contents = [
        _download(file, params.mirrors.fashion_mnist, params.timeout_s) for file in FASHION_FILES
    ]
    for file, content in zip(FASHION_FILES, contents, strict=True):
        write_atomically(root / RAW_FOLDER / _unpacked(file), _gunzip(content, file))


def _fetch_airfoil(params: DataParams, root: Path) -> None:
    write_atomically(
        root / AIRFOIL_FILE, _download(AIRFOIL, params.mirrors.airfoil, params.timeout_s)
    )


def _draw_fashion_mnist(root: Path) -> None:
    for offset, (half, count) in enumerate(FASHION_COUNTS.items()):
        images, labels = synthetic.fashion(count, SYNTHETIC_SEED + offset)
        write_atomically(root / RAW_FOLDER / f"{half}-images-idx3-ubyte", idx.encode(images))
        write_atomically(root / RAW_FOLDER / f"{half}-labels-idx1-ubyte", idx.encode(labels))


def _draw_airfoil(root: Path) -> None:
    lines = [
        "\t".join(f"{value:.6g}" for value in row) for row in synthetic.airfoil(SYNTHETIC_SEED)
    ]
    write_atomically(root / AIRFOIL_FILE, ("\n".join(lines) + "\n").encode())


def _download(file: RemoteFile, mirrors: list[str], timeout_s: int) -> bytes:
    """The published bytes of a file, from the first source that has them.

    Raises:
        WrongContentError: no source had it, and at least one answered with something else.
        DataError: no source was reached.
    """
    tried: list[str] = []
    wrong = False
    for source in sources(file, mirrors):
        try:
            path = pooch.retrieve(
                source,
                f"sha256:{file.sha256}",
                file.name,
                DOWNLOADS / file.folder,
                downloader=_Reader(file, timeout_s),
            )
            return Path(path).read_bytes()
        except (requests.RequestException, OSError) as error:
            if isinstance(error, OSError) and error.errno == errno.ENOSPC:
                raise SpaceError(
                    f"{DOWNLOADS}: no space for {file.size} bytes; free some and run again"
                ) from None
            tried.append(f"{source}: {_reason(error)}")
        # from pooch and _Reader alike: wrong bytes; the part file is gone
        except ValueError as error:
            tried.append(f"{source}: {_reason(error)}")
            wrong = True
        log.info("%s", tried[-1])
    what = f"{file.name}: no source has it ({'; '.join(tried) or 'data.mirrors is empty'})"
    if wrong:
        raise WrongContentError(
            f"{what}; a login page or a damaged copy? point {MIRROR_VARIABLE} at a folder that"
            f" holds {file.folder}/{file.name}"
        )
    raise DataError(
        f"{what}; point {MIRROR_VARIABLE} at a folder that holds {file.folder}/{file.name}"
    )


class _Reader:
    """A downloader for pooch, from folders and http(s), bounded in size and in total time."""

    def __init__(self, file: RemoteFile, timeout_s: int) -> None:
        self.file = file
        self.timeout_s = timeout_s

    def __call__(self, source: str, output_file: str, _: pooch.Pooch | None) -> None:
        if not source.startswith(("http://", "https://")):
            shutil.copyfile(source.removeprefix("file://"), output_file)
            return
        log.info("downloading %s", source)
        with requests.get(source, stream=True, timeout=(10, self.timeout_s)) as response:
            response.raise_for_status()
            if source.startswith("https://") and not response.url.startswith("https://"):
                raise ValueError(f"redirected to {response.url}, which is not https")
            if "text/html" in response.headers.get("Content-Type", ""):
                raise ValueError(
                    f"got a web page, first bytes {next(response.iter_content(40), b'')!r}"
                )
            self._save(response, Path(output_file))

    def _save(self, response: requests.Response, path: Path) -> None:
        deadline = time.monotonic() + 20 * self.timeout_s
        received = 0
        with path.open("wb") as output:
            for block in response.iter_content(2**16):
                received += len(block)
                if received > self.file.size:
                    raise ValueError(f"longer than the published {self.file.size} bytes")
                if time.monotonic() > deadline:
                    raise requests.Timeout(
                        f"{received} of {self.file.size} bytes in {20 * self.timeout_s} s"
                    )
                output.write(block)
        if received < self.file.size:
            raise requests.ConnectionError(f"ended after {received} of {self.file.size} bytes")


def _reason(error: Exception) -> str:
    """The innermost cause in a few words, without objects' addresses or line breaks."""
    if isinstance(error, requests.HTTPError) and error.response is not None:
        return f"HTTP {error.response.status_code}"
    if isinstance(error, requests.Timeout):
        return f"timed out ({error})"
    if (
        isinstance(error, requests.ConnectionError)
        and error.args
        and hasattr(error.args[0], "reason")
    ):
        return f"no connection ({type(error.args[0].reason).__name__})"
    if isinstance(error, OSError) and error.strerror:
        return error.strerror
    return " ".join(str(error).split())


def _gunzip(content: bytes, file: RemoteFile) -> bytes:
    """Unpack a published file, whose pinned hash already vouches for it."""
    try:
        return gzip.decompress(content)
    except (OSError, EOFError, zlib.error) as error:
        raise WrongContentError(
            f"{file.name}: damaged gzip ({error}); delete {DOWNLOADS} and run again"
        ) from None


def _require_writable(folder: Path) -> None:
    probe = folder / f".part-{os.getpid()}"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        probe.touch()
        probe.unlink()
    except OSError as error:
        raise DataError(
            f"{folder}: cannot be written ({error.strerror}); mend its permissions or move it away"
        ) from None


def _unpacked(file: RemoteFile) -> str:
    return file.name.removesuffix(".gz")
