"""What is fetched and where it lies: the published files, your own mirror, and the others."""

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field

from lab.core.errors import DataError
from lab.core.params import Section

MIRROR_VARIABLE = "LAB_DATA_MIRROR"


@dataclass(frozen=True)
class RemoteFile:
    """A file as published; `folder` is where it lies under LAB_DATA_MIRROR."""

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


def own_mirror() -> str:
    """The folder or the http(s) address that LAB_DATA_MIRROR names; empty if it names none.

    Raises:
        DataError: it names an address of another kind.
    """
    text = os.environ.get(MIRROR_VARIABLE, "").strip().rstrip("/")
    if "://" in text and not is_address(text):
        raise DataError(
            f"{MIRROR_VARIABLE}: expected a folder or an http(s) address, got {text}; set it to"
            " one, or unset it"
        )
    return text if is_address(text) or not text else str(Path(text).expanduser())


def sources(file: RemoteFile, mirrors: list[str]) -> list[str]:
    """Where to look for a file, paths and http(s) addresses: the own mirror first.

    Raises:
        DataError: as in `own_mirror`.
    """
    own = own_mirror()
    first = [f"{own}/{file.folder}/{file.name}"] if own else []
    return first + [f"{mirror.rstrip('/')}/{file.name}" for mirror in mirrors]


def is_address(source: str) -> bool:
    """Whether a source is an address rather than a path."""
    return source.startswith(("http://", "https://"))
