"""What does a trained run see in a picture? `invoke predict PICTURE`.

The picture is brought into Fashion-MNIST's form: grey, 28 x 28, a light garment on black that fills
the longer side and stands in the middle of the other.
"""

import warnings
from pathlib import Path

import numpy as np
import torch
from PIL import Image, ImageOps, UnidentifiedImageError
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
UNSURE = 0.6  # with a lower probability the net is often wrong
# no others: opening an EPS file runs the PostScript in it
FORMATS = ("PNG", "JPEG", "GIF", "WEBP", "BMP")
KINDS = "PNG, JPEG, GIF, WebP or BMP file"
MOST_BYTES = 2**26  # of a picture
MOST_PIXELS = 50_000_000  # of a picture, which take 15 bytes each for a moment
SIDE = max(IMAGE_SHAPE)
LEAST_CONTRAST = 10  # levels of 255 between a garment and its background
NOISE = 20  # levels of 255 that a background may have once the contrast is stretched


class _Params(Section):
    train: TrainParams


class _RunConditions(Document):
    net: NetName
    weights_sha256: str


@torch.no_grad()
def predict(picture: Path, run: str = "") -> None:
    """Print what was done to the picture, and the classes, the most likely first.

    If no run is named, the most accurate of those that are trained here answers.
    """
    runs = list(load(_Params).train.runs)
    trained = [each for each in runs if (WEIGHTS / f"{each}.pt").exists()]
    name = run or max(trained, key=_accuracy, default=runs[0])
    if name not in runs:
        known = instead_of(name, runs)
        raise ParamsError(f"{PARAMS_FILE}: no run {name!r} in train.runs; {known}")
    image, done = read_picture(picture)
    [probabilities] = load_net(name)(torch.from_numpy(image)[None]).double().softmax(1)
    print(f"{picture.name}: {', '.join(done) or 'as it is'}; seen by {name}")
    for i in probabilities.argsort(descending=True).tolist():
        print(f"{100 * probabilities[i]:6.2f} %  {CLASSES[i]}")
    if probabilities.max() < UNSURE:
        print(f"not sure: no class has {100 * UNSURE:.0f} %")


def _accuracy(run: str) -> float:
    """On the test images, in percent; 0 for a run whose results do not say."""
    metrics = REPORTS / "train" / run / METRICS
    return read_json(metrics).get("test_accuracy_percent", 0) if metrics.exists() else 0


def load_net(name: str) -> nn.Module:
    """The trained net of a run, in evaluation mode, for uint8 images (n, 28, 28).

    Raises:
        CheckpointError: the run has not been trained here yet, or its weights are damaged or others
            than its results tell of.
        DataError: its results are damaged.
    """
    again = f"`invoke train {name}` makes it anew"
    conditions, path = REPORTS / "train" / name / CONDITIONS, WEIGHTS / f"{name}.pt"
    for file in (conditions, path):
        if not file.exists():
            raise CheckpointError(f"{file}: not there yet; `invoke train {name}` makes it")
    run = read_document(conditions, _RunConditions, again)
    try:
        content = path.read_bytes()
        if sha256(content)[:16] != run["weights_sha256"]:
            raise ValueError(f"not the weights that {conditions} tells of")
        net = MODELS[run["net"]](torch.Generator())
        net.load_state_dict(tensors_in(content))
    except (OSError, ValueError, TypeError, RuntimeError) as error:
        raise CheckpointError(f"{path}: {str(error).splitlines()[0]}; {again}") from None
    return UInt8Input(net).eval()


def read_picture(path: Path) -> tuple[np.ndarray, list[str]]:
    """Read a picture file as one uint8 image (28, 28), and say in words what was done to it.

    Raises:
        DataError: missing, or not a picture, or too large, or nothing differs from its edge.
    """
    levels = _grey_levels(path)
    # a garment may reach the edge here and there
    background = np.median([*levels[0], *levels[-1], *levels[:, 0], *levels[:, -1]])
    is_light = levels.mean() < background
    garment = (background - levels if is_light else levels - background).clip(min=0)
    if garment.max() < LEAST_CONTRAST:
        raise DataError(f"{path}: all of it has one colour; give a picture of a garment")
    done = ["light background inverted"] if is_light else []
    if garment.max() < 0.9 * 255:
        done.append("contrast stretched")
    pixels = (garment * (255 / garment.max())).round().astype(np.uint8)
    if max(pixels.shape) > SIDE:
        rows, columns = (np.flatnonzero((pixels > NOISE).any(axis)) for axis in (1, 0))
        pixels = pixels[rows[0] : rows[-1] + 1, columns[0] : columns[-1] + 1]
        done.append("cropped to the garment")
    if (longer := max(pixels.shape)) != SIDE:
        done.append(f"{'shrunk' if longer > SIDE else 'enlarged'} to {SIDE} x {SIDE}")
    return np.array(ImageOps.pad(Image.fromarray(pixels), IMAGE_SHAPE, color=0)), done


def _grey_levels(path: Path) -> np.ndarray:
    """Decode a picture as grey levels (height, width), on white paper where it is transparent.

    A photo is shrunk to ten times what is needed, and so has hardly any noise.
    """
    try:
        if path.stat().st_size > MOST_BYTES:
            raise ValueError(f"more than {MOST_BYTES:,} bytes")
        # warnings are of what is refused here, or does not matter
        with warnings.catch_warnings(action="ignore"), Image.open(path, formats=FORMATS) as file:
            if file.width * file.height > MOST_PIXELS:
                raise ValueError(f"more than {MOST_PIXELS:,} pixels")
            upright = ImageOps.exif_transpose(file)
            if upright.mode.startswith("I"):  # 16 bits, which `RGBA` would cut off at 255
                deep = np.asarray(upright, dtype=np.float32)
                upright = Image.fromarray((deep * (255 / max(1, deep.max()))).astype(np.uint8))
            upright = upright.convert("RGBA")
    except FileNotFoundError:
        raise DataError(f"{path}: no such file; give the path of a picture") from None
    except UnidentifiedImageError:
        raise DataError(f"{path}: not a {KINDS}; save the picture as one") from None
    except Exception as error:  # whatever a damaged file leads to
        reason = getattr(error, "strerror", None) or str(error) or type(error).__name__
        raise DataError(f"{path}: cannot be read ({reason}); give a {KINDS}") from None
    paper = Image.new("RGBA", upright.size, "white")
    grey = Image.alpha_composite(paper, upright).convert("L")
    grey.thumbnail((10 * SIDE, 10 * SIDE), Image.Resampling.BOX)
    return np.asarray(grey, dtype=float)
