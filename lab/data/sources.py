"""The files to fetch and their places: published files, your own copies, and mirrors."""

import gzip
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field

from lab.core.errors import DataError
from lab.core.files import sha256
from lab.core.outputs import check_place
from lab.core.params import Section
from lab.data.datasets import AIRFOIL_FILE, DATA, RAW_FOLDER, SOURCE_FILE

MIRROR_VARIABLE = "LAB_DATA_MIRROR"


@dataclass(frozen=True)
class RemoteFile:
    """A file as published.

    Attributes:
        folders: its places under LAB_DATA_MIRROR; the last is also its place, unpacked, in data/.
        unpacked_sha256: equal to `sha256` if the file is published unpacked.
    """

    folders: tuple[str, ...]
    name: str
    size: int
    sha256: str
    unpacked_sha256: str

    @property
    def path(self) -> Path:
        """The path of the unpacked file."""
        return DATA / self.folders[-1] / self.name.removesuffix(".gz")

    @property
    def packed_beside(self) -> list[Path]:
        """The packed file in the same folder, if torchvision left one."""
        packed = self.path.with_name(self.name)
        return [packed] if packed != self.path and packed.exists() else []

    def unpacked(self, content: bytes) -> bytes:
        """Return the unpacked bytes of a copy, packed or not; ValueError if it is no copy."""
        digest = sha256(content)
        if digest == self.unpacked_sha256:
            return content
        if digest == self.sha256:
            return gzip.decompress(content)
        raise ValueError(f"{self.name}: SHA-256 {digest}")

    def lies_at(self, path: Path | str) -> bool:
        """Return whether `path` is a copy of the file, packed or not."""
        try:
            digest = sha256(Path(path).read_bytes())
        except OSError:
            return False
        return digest in (self.sha256, self.unpacked_sha256)


FASHION_FOLDERS = ("fashion-mnist", RAW_FOLDER.as_posix())
FASHION_FILES = (
    RemoteFile(
        FASHION_FOLDERS,
        "train-images-idx3-ubyte.gz",
        26_421_880,
        "3aede38d61863908ad78613f6a32ed271626dd12800ba2636569512369268a84",
        "c59f468a2f672dc815687fe0f83887768d799fd8a3f3276145d20f83aa44d888",
    ),
    RemoteFile(
        FASHION_FOLDERS,
        "train-labels-idx1-ubyte.gz",
        29_515,
        "a04f17134ac03560a47e3764e11b92fc97de4d1bfaf8ba1a3aa29af54cc90845",
        "bad3541b69d912435c50bb6ba87bec294ff4f6a2e1246121d8633921760443d9",
    ),
    RemoteFile(
        FASHION_FOLDERS,
        "t10k-images-idx3-ubyte.gz",
        4_422_102,
        "346e55b948d973a97e58d2351dde16a484bd415d4595297633bb08f03db6a073",
        "5b4141f0afbad91edebe8549f8fcffe087ea10ca49f1dbef5c9a5cd8815ce37b",
    ),
    RemoteFile(
        FASHION_FOLDERS,
        "t10k-labels-idx1-ubyte.gz",
        5_148,
        "67da17c76eaffca5446c3361aaab5c3cd6d1c2608764d35dfb1850b086bf8dd5",
        "0402a96d92fd2663957122ceb108a494c5af83dab82d92729df917d7dec38c34",
    ),
)
AIRFOIL = RemoteFile(
    (AIRFOIL_FILE.parent.as_posix(),),
    AIRFOIL_FILE.name,
    59_984,
    "74c75fd71783f1e6b71f8a622b993dc592897a97cd689c5090a07147a1b097b3",
    "74c75fd71783f1e6b71f8a622b993dc592897a97cd689c5090a07147a1b097b3",
)

Url = Annotated[str, Field(pattern=r"^https?://[^\s]+$")]


class MirrorParams(Section):
    """Base URLs, tried in order; a file's name is appended to each."""

    fashion_mnist: list[Url]
    airfoil: list[Url]


class DataParams(Section):
    """The `data` section of params.yaml."""

    mirrors: MirrorParams
    timeout_s: Annotated[int, Field(ge=1, le=3600)]
    if_unreachable: Literal["synthetic", "fail"]


def own_mirror() -> str:
    """Return the folder or http(s) address in LAB_DATA_MIRROR; empty if there is none.

    Raises:
        DataError: the variable has a different kind of address.
    """
    text = os.environ.get(MIRROR_VARIABLE, "").strip().rstrip("/")
    if "://" in text and not is_address(text):
        raise DataError(
            f"{MIRROR_VARIABLE}: expected a folder or an http(s) address, got {text}; set it to"
            " one, or unset it"
        )
    return text if is_address(text) or not text else str(Path(text).expanduser())


def own_copies(file: RemoteFile) -> list[str]:
    """Return the places of a file, packed or not, in LAB_DATA_MIRROR; if none, where it should be.

    Raises:
        DataError: as in `own_mirror`.
    """
    own = own_mirror()
    names = dict.fromkeys((file.name, file.path.name))
    places = [f"{own}/{folder}/{name}" for folder in file.folders for name in names if own]
    return [place for place in places if Path(place).exists()] or places[:1]


def sources(file: RemoteFile, mirrors: list[str]) -> list[str]:
    """Return where to look for a file, as paths and http(s) addresses: own copies first.

    Raises:
        DataError: as in `own_mirror`.
    """
    published = [f"{mirror.rstrip('/')}/{file.name}" for mirror in mirrors]
    return [*map(str, file.packed_beside), *own_copies(file), *published]


def check_places() -> None:
    """Raise DataError if data would be written through a link that leaves the project."""
    for path in (DATA / SOURCE_FILE, *(file.path for file in (*FASHION_FILES, AIRFOIL))):
        check_place(path)


def is_address(source: str) -> bool:
    return source.startswith(("http://", "https://"))
