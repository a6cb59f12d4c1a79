"""The two data sets as `fetch` left them, read and checked.

Fashion-MNIST has torchvision's layout (`data/FashionMNIST/raw`), and the airfoil table lies beside
it. `data/source.json` says whether each is the original or a synthetic look-alike, and holds each
file's hash.
"""

import hashlib
from pathlib import Path
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lab.core.errors import DataError
from lab.core.files import read_json
from lab.data import idx

DATA = Path("data")
RAW_FOLDER = Path("FashionMNIST/raw")
AIRFOIL_FILE = Path("airfoil/airfoil_self_noise.dat")
SOURCE_FILE = Path("source.json")

CLASSES = (
    "T-shirt/top",
    "Trouser",
    "Pullover",
    "Dress",
    "Coat",
    "Sandal",
    "Shirt",
    "Sneaker",
    "Bag",
    "Ankle boot",
)
IMAGE_SHAPE = (28, 28)
FASHION_COUNTS = {"train": 60_000, "t10k": 10_000}


class Split(NamedTuple):
    """One half of Fashion-MNIST: uint8 images (n, 28, 28) and int64 labels (n,) from 0 to 9."""

    images: NDArray[np.uint8]
    labels: NDArray[np.int64]

    def first(self, count: int) -> "Split":
        """The first `count` examples."""
        return Split(self.images[:count], self.labels[:count])


def sha256(content: bytes) -> str:
    """The SHA-256 of bytes, in hexadecimal."""
    return hashlib.sha256(content).hexdigest()


def read_source(root: Path = DATA) -> dict[str, str]:
    """Whether each data set is `original` or `synthetic`, as `fetch` recorded it.

    Raises:
        DataError: nothing was fetched.
    """
    if not (root / SOURCE_FILE).is_file():
        raise DataError(f"{root / SOURCE_FILE}: no data yet; `dvc repro fetch` brings them")
    source = read_json(root / SOURCE_FILE)
    return {key: source[key] for key in ("fashion_mnist", "airfoil")}


def dataset_name(root: Path = DATA) -> str:
    """What results call the images: `fashion-mnist` or `synthetic`."""
    return "synthetic" if read_source(root)["fashion_mnist"] == "synthetic" else "fashion-mnist"


def read_fashion_mnist(half: Literal["train", "t10k"], root: Path = DATA) -> Split:
    """One half of Fashion-MNIST, its files' hashes, headers, counts and labels checked.

    Raises:
        DataError: a file is missing, was changed after it was fetched, or is not Fashion-MNIST.
    """
    images_file, labels_file = (f"{half}-images-idx3-ubyte", f"{half}-labels-idx1-ubyte")
    images = _read_idx(root, RAW_FOLDER / images_file, 3)
    labels = _read_idx(root, RAW_FOLDER / labels_file, 1)
    again = "`dvc repro --force fetch` brings them anew"
    if images.shape != (len(labels), *IMAGE_SHAPE):
        raise DataError(f"{images_file}: images {images.shape} for {len(labels)} labels; {again}")
    if labels.max() >= len(CLASSES):
        raise DataError(
            f"{labels_file}: label {labels.max()} at {labels.argmax()}, expected 0 to 9; {again}"
        )
    return Split(images, labels.astype(np.int64))


def read_airfoil(root: Path = DATA) -> NDArray[np.float64]:
    """The airfoil table (1503, 6): five features, then the sound pressure in dB.

    Raises:
        DataError: missing, or changed after it was fetched.
    """
    text = _read_checked(root, AIRFOIL_FILE).decode()
    return np.array([[float(value) for value in line.split()] for line in text.splitlines()])


def _read_idx(root: Path, name: Path, ndim: int) -> NDArray[np.uint8]:
    content = _read_checked(root, name)
    try:
        return idx.decode(content, ndim)
    except ValueError as error:
        raise DataError(
            f"{root / name}: {error}; `dvc repro --force fetch` brings it anew"
        ) from None


def _read_checked(root: Path, name: Path) -> bytes:
    """The bytes of a fetched file, which must still have the hash that `fetch` recorded."""
    read_source(root)
    try:
        content = (root / name).read_bytes()
    except FileNotFoundError:
        raise DataError(f"{root / name}: missing; `dvc repro --force fetch` brings it") from None
    if sha256(content) != read_json(root / SOURCE_FILE)["sha256"].get(name.as_posix()):
        raise DataError(
            f"{root / name}: changed since it was fetched; `dvc repro --force fetch` brings it anew"
        )
    return content
