"""Classify a picture with a trained run: `invoke predict PICTURE`.

The picture is converted to Fashion-MNIST's form: grey, 28 x 28, a light garment on black that fills
the longer side and is centred along the shorter one. Small separate things are cropped away.
"""

import logging
from pathlib import Path

import numpy as np
import torch
from PIL import Image, ImageFilter, ImageOps
from torch import nn

from lab.core.errors import CheckpointError, DataError, ParamsError, instead_of
from lab.core.files import CONDITIONS, METRICS, REPORTS, read_json, sha256
from lab.core.params import PARAMS_FILE, Section, load
from lab.core.shared_params import NetName
from lab.data.datasets import CLASSES, IMAGE_SHAPE
from lab.nets.models import MODELS, UInt8Input
from lab.results.documents import Document, read_document
from lab.training.checkpoints import tensors_in
from lab.training.run_params import TrainParams

WEIGHTS = Path("models")
UNSURE = 0.6  # below this probability the net is often wrong
# only these: opening an EPS file runs the PostScript in it
FORMATS = ("PNG", "JPEG", "GIF", "WEBP", "BMP")
KINDS = "PNG, JPEG, GIF, WebP or BMP file"
SIDE = max(IMAGE_SHAPE)
LEAST_CONTRAST = 10  # levels of 255 between a garment and its background
TRIFLE = 0.2  # of the heaviest part's weight: lighter parts are text, dust or a stamp
MOST_LEFT_OUT = 0.01  # of what differs from the background, without a warning
NOISE = 20  # levels of 255 that count as background once the contrast is stretched

log = logging.getLogger(__name__)


class _Params(Section):
    train: TrainParams


class _RunConditions(Document):
    net: NetName
    weights_sha256: str


@torch.no_grad()
def predict(picture: Path, run: str = "") -> None:
    """Print the classes of a picture, the most likely first.

    If no run is named, the most accurate run that is trained here answers.
    """
    runs = list(load(_Params).train.runs)
    trained = [each for each in runs if (WEIGHTS / f"{each}.pt").exists()]
    name = run or max(trained, key=_accuracy, default=runs[0])
    if name not in runs:
        known = instead_of(name, runs)
        raise ParamsError(f"{PARAMS_FILE}: no run {name!r} in train.runs; {known}")
    image = torch.from_numpy(read_picture(picture))
    [probabilities] = load_net(name)(image[None]).double().softmax(1)
    print(f"{picture.name}, seen by {name}")
    for i in probabilities.argsort(descending=True).tolist():
        print(f"{100 * probabilities[i]:6.2f} %  {CLASSES[i]}")
    if probabilities.max() < UNSURE:
        print(f"not sure: no class has {100 * UNSURE:.0f} %")


def _accuracy(run: str) -> float:
    """Return a run's test accuracy in percent; 0 if its results do not say."""
    metrics = REPORTS / "train" / run / METRICS
    return read_json(metrics).get("test_accuracy_percent", 0) if metrics.exists() else 0


def load_net(name: str) -> nn.Module:
    """Return a run's trained net, in evaluation mode, for uint8 images (n, 28, 28).

    Raises:
        CheckpointError: the run has not been trained here yet, or its weights are damaged or not
            the ones that its results name.
        DataError: its results are damaged.
    """
    again = f"`invoke train {name}` makes it again"
    conditions, path = REPORTS / "train" / name / CONDITIONS, WEIGHTS / f"{name}.pt"
    for file in (conditions, path):
        if not file.exists():
            raise CheckpointError(f"{file}: not there yet; `invoke train {name}` makes it")
    run = read_document(conditions, _RunConditions, again)
    try:
        content = path.read_bytes()
        if sha256(content)[:16] != run["weights_sha256"]:
            raise ValueError(f"not the weights that {conditions} names")
        net = MODELS[run["net"]](torch.Generator())
        net.load_state_dict(tensors_in(content))
    except (OSError, ValueError, TypeError, RuntimeError) as error:
        raise CheckpointError(f"{path}: {str(error).splitlines()[0]}; {again}") from None
    return UInt8Input(net).eval()


def read_picture(path: Path) -> np.ndarray:
    """Read a picture file as one uint8 image (28, 28): a light garment on black.

    Raises:
        DataError: the file is missing or not a picture, or nothing differs from its edge.
    """
    levels = np.asarray(_grey(path), dtype=float)
    # the median, since a garment may reach the edge here and there
    background = np.median([*levels[0], *levels[-1], *levels[:, 0], *levels[:, -1]])
    sign = 1 if levels.mean() >= background else -1  # 1: the garment is lighter than its background
    garment = (sign * (levels - background)).clip(min=0)
    if garment.max() < LEAST_CONTRAST:
        raise DataError(f"{path}: all of it has one colour; give a picture of a garment")
    image = Image.fromarray((garment * (255 / garment.max())).round().astype(np.uint8))
    seen = np.asarray(image.filter(ImageFilter.MedianFilter(5)), dtype=int)  # without specks
    seen = np.where(seen > NOISE, seen, 0)
    if max(image.size) > SIDE and seen.any():  # not if drawn in lines as thin as specks
        rows = slice(None)
        for _ in range(2):  # the second pass drops columns that only the rows now cut off had held
            columns = _extent(seen[rows].sum(0))
            rows = _extent(seen[:, columns].sum(1))
        image = image.crop((columns.start, rows.start, columns.stop, rows.stop))
        left_out = 1 - seen[rows, columns].sum() / seen.sum()
        if left_out > MOST_LEFT_OUT:
            log.warning("%s: %.0f %% of it, apart from the rest, is left out", path, 100 * left_out)
    return np.array(ImageOps.pad(image, IMAGE_SHAPE, color=0))


def _extent(weights: np.ndarray) -> slice:
    """Return the slice from the first to the last heavy part; zeros separate parts."""
    edges = np.flatnonzero(np.diff(np.concatenate([[False], weights > 0, [False]])))
    parts = [slice(*edges[i : i + 2]) for i in range(0, len(edges), 2)]
    heavy = [weights[part].sum() for part in parts]
    kept = [p for p, weight in zip(parts, heavy, strict=True) if weight > TRIFLE * max(heavy)]
    return slice(kept[0].start, kept[-1].stop)


def _grey(path: Path) -> Image.Image:
    """Decode a picture in grey, upright, with white where it is transparent.

    A photo is shrunk to ten times the size that is needed, which removes most noise.
    """
    if path.is_fifo():
        raise DataError(f"{path}: a pipe; give the path of a picture")
    try:
        with Image.open(path, formats=FORMATS) as file:
            upright = ImageOps.exif_transpose(file).convert("RGBA")
    except FileNotFoundError:
        raise DataError(f"{path}: no such file; give the path of a picture") from None
    except Exception as error:  # whatever a damaged, huge or foreign file raises
        raise DataError(f"{path}: cannot be read ({error}); give a {KINDS}") from None
    paper = Image.new("RGBA", upright.size, "white")
    grey = Image.alpha_composite(paper, upright).convert("L")
    grey.thumbnail((10 * SIDE, 10 * SIDE), Image.Resampling.BOX)
    return grey
