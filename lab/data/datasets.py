"""The two data sets as `fetch` left them, read and checked.

Fashion-MNIST has torchvision's layout (`data/FashionMNIST/raw`), and the airfoil table lies beside
it. `data/source.json` says whether each is the original or a synthetic look-alike, and holds each
file's hash.
"""

import hashlib
import logging
from pathlib import Path
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ValidationError

from lab.core.errors import DataError, MachineError
from lab.core.files import read_regular
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
MOST_BYTES = 2**26  # of a file: the images have 47 million
FASHION_COUNTS = {"train": 60_000, "t10k": 10_000}
AGAIN = "`dvc repro --force fetch` brings it anew"

log = logging.getLogger(__name__)


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


class Fetched(BaseModel):
    """What `fetch` records in source.json: where each set is from, and the hash of each file."""

    fashion_mnist: Literal["original", "synthetic"]
    airfoil: Literal["original", "synthetic"]
    sha256: dict[str, str]


def read_source(root: Path = DATA) -> dict[str, str]:
    """Whether each data set is `original` or `synthetic`, as `fetch` recorded it.

    Raises:
        DataError: nothing was fetched, or the record is damaged.
        MachineError: it is another user's, who lets nobody read it.
    """
    return _fetched(root).model_dump(include={"fashion_mnist", "airfoil"})


def is_fetched(root: Path = DATA) -> bool:
    """Whether the data sets are there; a clone has the results without them."""
    return (root / SOURCE_FILE).is_file()


def dataset_name(root: Path = DATA) -> str:
    """What results call the images: `fashion-mnist` or `synthetic`."""
    return "synthetic" if read_source(root)["fashion_mnist"] == "synthetic" else "fashion-mnist"


def read_fashion_mnist(half: Literal["train", "t10k"], root: Path = DATA) -> Split:
    """One half of Fashion-MNIST, its files' hashes, headers, counts and labels checked.

    Raises:
        DataError: a file is missing, was changed after it was fetched, or is not Fashion-MNIST.
        MachineError: it is another user's, who lets nobody read it.
    """
    images_file, labels_file = (f"{half}-images-idx3-ubyte", f"{half}-labels-idx1-ubyte")
    images = _read_idx(root, RAW_FOLDER / images_file, 3)
    labels = _read_idx(root, RAW_FOLDER / labels_file, 1)
    if images.shape != (len(labels), *IMAGE_SHAPE):
        raise DataError(f"{images_file}: images {images.shape} for {len(labels)} labels; {AGAIN}")
    if labels.max() >= len(CLASSES):
        first = (labels >= len(CLASSES)).argmax()
        raise DataError(
            f"{labels_file}: label {labels[first]} at {first}, expected 0 to 9; {AGAIN}"
        )
    for label in np.setdiff1d(range(len(CLASSES)), labels):
        log.warning("WARNING: %s: no image of class %d, %s", labels_file, label, CLASSES[label])
    return Split(images, labels.astype(np.int64))


def read_airfoil(root: Path = DATA) -> NDArray[np.float64]:
    """The airfoil table (1503, 6): five features, then the sound pressure in dB.

    Raises:
        DataError: missing, changed after it was fetched, or no table.
        MachineError: it is another user's, who lets nobody read it.
    """
    lines = _read_checked(root, AIRFOIL_FILE).splitlines()
    try:
        return np.array([[float(value) for value in line.split()] for line in lines])
    except ValueError as error:
        raise DataError(f"{root / AIRFOIL_FILE}: {error}; {AGAIN}") from None


def _read_idx(root: Path, name: Path, ndim: int) -> NDArray[np.uint8]:
    content = _read_checked(root, name)
    try:
        return idx.decode(content, ndim)
    except ValueError as error:
        raise DataError(f"{root / name}: {error}; {AGAIN}") from None


def _read_checked(root: Path, name: Path) -> bytes:
    """The bytes of a fetched file, which must still have the hash that `fetch` recorded."""
    recorded = _fetched(root).sha256.get(name.as_posix())
    content = _read(root / name, f"missing; {AGAIN}")
    if recorded is None:
        raise DataError(f"{root / SOURCE_FILE}: has no hash of {name}; {AGAIN}")
    if sha256(content) != recorded:
        raise DataError(
            f"{root / name}: changed since it was fetched; {AGAIN}, and `invoke doctor` names DVC's"
            " copy of it if that is damaged"
        )
    return content


def _fetched(root: Path) -> Fetched:
    path = root / SOURCE_FILE
    content = _read(path, "no data yet; `dvc repro fetch` brings them")
    try:
        return Fetched.model_validate_json(content, strict=True)
    except ValidationError as errors:
        first = errors.errors()[0]
        where = " ".join(".".join(map(str, first["loc"])).split())
        raise DataError(f"{path}: damaged ({where or 'all'}: {first['msg']}); {AGAIN}") from None


def _read(path: Path, if_missing: str) -> bytes:
    try:
        return read_regular(path, MOST_BYTES)
    except (FileNotFoundError, NotADirectoryError):
        raise DataError(f"{path}: {if_missing}") from None
    except ValueError as error:
        raise DataError(f"{path}: {error}; {AGAIN}") from None
    except OSError as error:
        raise MachineError(
            f"{path}: cannot be read ({error.strerror}); mend its permissions, or work in a clone"
            " of your own"
        ) from None
