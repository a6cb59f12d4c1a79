"""The two data sets from `fetch`, read and checked.

Fashion-MNIST has torchvision's layout (`data/FashionMNIST/raw`); the airfoil table is in
`data/airfoil`. `data/source.json` says whether each is the original or a synthetic look-alike.
`fetch` has checked their hashes.
"""

import json
import logging
from pathlib import Path
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lab.core.errors import DataError, MachineError
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

log = logging.getLogger(__name__)


class Split(NamedTuple):
    """One half of Fashion-MNIST: uint8 images (n, 28, 28) and int64 labels (n,) from 0 to 9."""

    images: NDArray[np.uint8]
    labels: NDArray[np.int64]

    def first(self, count: int) -> "Split":
        return Split(self.images[:count], self.labels[:count])


def read_source(root: Path = DATA) -> dict[str, str]:
    """Return whether each data set is `original` or `synthetic`, as `fetch` recorded.

    Raises:
        DataError: nothing was fetched, or the record is damaged.
        MachineError: the record cannot be read.
    """
    path = root / SOURCE_FILE
    content = _read(path)
    try:
        record = json.loads(content)
        source = {name: record[name] for name in ("fashion_mnist", "airfoil")}
        if not set(source.values()) <= {"original", "synthetic"}:
            raise ValueError(f"{source}")
    except (ValueError, LookupError, TypeError) as error:
        raise DataError(f"{path}: damaged ({error}); {_anew(path)}") from None
    return source


def dataset_name(root: Path = DATA) -> str:
    """Return the name of the images in results: `fashion-mnist` or `synthetic`."""
    return "synthetic" if read_source(root)["fashion_mnist"] == "synthetic" else "fashion-mnist"


def read_fashion_mnist(half: Literal["train", "t10k"], root: Path = DATA) -> Split:
    """Return one half of Fashion-MNIST after checking its headers, counts and labels.

    Raises:
        DataError: a file is missing, or is not Fashion-MNIST.
        MachineError: a file cannot be read.
    """
    images_file, labels_file = (
        root / RAW_FOLDER / f"{half}-{kind}-ubyte" for kind in ("images-idx3", "labels-idx1")
    )
    images = _read_idx(images_file, 3)
    labels = _read_idx(labels_file, 1)
    if images.shape != (len(labels), *IMAGE_SHAPE):
        raise DataError(
            f"{images_file}: images {images.shape} for {len(labels)} labels;"
            f" {_anew(images_file, labels_file)}"
        )
    if labels.max() >= len(CLASSES):
        first = (labels >= len(CLASSES)).argmax()
        raise DataError(
            f"{labels_file}: label {labels[first]} at {first}, expected 0 to 9;"
            f" {_anew(labels_file)}"
        )
    for label in np.setdiff1d(range(len(CLASSES)), labels):
        log.warning(
            "WARNING: %s: no image of class %d, %s", labels_file.name, label, CLASSES[label]
        )
    return Split(images, labels.astype(np.int64))


def read_airfoil(root: Path = DATA) -> NDArray[np.float64]:
    """Return the airfoil table (1503, 6): five features, then the sound pressure in dB.

    Raises:
        DataError: the file is missing, or is not a table.
        MachineError: the file cannot be read.
    """
    path = root / AIRFOIL_FILE
    try:
        return np.loadtxt(_read(path).decode().splitlines(), ndmin=2)
    except ValueError as error:
        raise DataError(f"{path}: {error}; {_anew(path)}") from None


def _read_idx(path: Path, ndim: int) -> NDArray[np.uint8]:
    try:
        return idx.decode(_read(path), ndim)
    except ValueError as error:
        raise DataError(f"{path}: {error}; {_anew(path)}") from None


def _anew(*paths: Path) -> str:
    return f"`rm {' '.join(map(str, paths))} && dvc repro fetch` makes it again"


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except FileNotFoundError:
        raise DataError(f"{path}: no data yet; `dvc repro fetch` brings them") from None
    except OSError as error:
        raise MachineError(
            f"{path}: cannot be read ({error.strerror}); fix its permissions, or work in a clone"
            " of your own"
        ) from None
