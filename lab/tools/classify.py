"""What does a trained run see in a picture? `invoke predict PICTURE`.

The picture is brought into Fashion-MNIST's form: grey, 28 x 28, a light garment on black.
"""

import hashlib
import io
import sys
import warnings
from pathlib import Path

import numpy as np
import torch
from PIL import Image, ImageOps, UnidentifiedImageError
from torch import Tensor, nn

from lab.core.errors import CheckpointError, DataError, MachineError, ParamsError, instead_of
from lab.core.files import CONDITIONS, REPORTS
from lab.core.params import PARAMS_FILE, Section, load
from lab.core.process import run
from lab.core.shared_params import NetName
from lab.data.datasets import CLASSES, IMAGE_SHAPE
from lab.nets.models import MODELS, UInt8Input
from lab.results.documents import Document, read_document
from lab.training.checkpoints import tensors_in
from lab.training.run_params import TrainParams

WEIGHTS = Path("models")
# no others: opening an EPS file runs the PostScript in it
FORMATS = ("PNG", "JPEG", "GIF", "WEBP", "BMP")
MOST_BYTES = 2**26  # of a picture
MOST_PIXELS = 50_000_000  # of a picture, which take 15 bytes each for a moment


class _Params(Section):
    train: TrainParams


class _RunConditions(Document):
    net: NetName
    weights_sha256: str


def read_picture(path: Path) -> Tensor:
    """Read a picture file as one uint8 image (1, 28, 28), as those that a net was trained on.

    Raises:
        DataError: missing, or not a picture, or one with too many pixels.
    """
    try:
        if path.stat().st_size > MOST_BYTES:
            raise ValueError(f"more than {MOST_BYTES:,} bytes")
        return _in_the_sets_form(_decoded(path.read_bytes()))
    except Image.DecompressionBombError:
        raise DataError(
            f"{path}: more than {MOST_PIXELS:,} pixels; give a smaller picture"
        ) from None
    except FileNotFoundError:
        raise DataError(f"{path}: no such file; give the path of a picture") from None
    except UnidentifiedImageError:
        raise DataError(f"{path}: not a picture; give a PNG, JPEG, GIF, WebP or BMP file") from None
    except Exception as error:  # whatever a file that is none leads to
        reason = getattr(error, "strerror", None) or str(error) or type(error).__name__
        raise DataError(
            f"{path}: not a picture ({reason}); give a PNG, JPEG, GIF, WebP or BMP file"
        ) from None


def _decoded(content: bytes) -> Image.Image:
    """The picture in a file's content, on white paper where it is transparent."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about what is refused here, or does not matter
        with Image.open(io.BytesIO(content), formats=FORMATS) as file:
            if file.width * file.height > MOST_PIXELS:
                raise Image.DecompressionBombError
            upright = ImageOps.exif_transpose(file).convert("RGBA")
    paper = Image.new("RGBA", upright.size, "white")
    return Image.alpha_composite(paper, upright)


def _in_the_sets_form(picture: Image.Image) -> Tensor:
    """A picture as one uint8 image (1, 28, 28), inverted if its edge is light."""
    grey = picture.convert("L")
    pixels = np.asarray(grey)
    edge = np.concatenate([pixels[0], pixels[-1], pixels[:, 0], pixels[:, -1]])
    if edge.mean() > 127:
        grey = ImageOps.invert(grey)
    return torch.from_numpy(np.array(ImageOps.pad(grey, IMAGE_SHAPE, color=0)))[None]


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
        if hashlib.sha256(content).hexdigest()[:16] != run["weights_sha256"]:
            raise ValueError(f"not the weights that {conditions} tells of")
        net = MODELS[run["net"]](torch.Generator())
        net.load_state_dict(tensors_in(content))
    except PermissionError as error:
        raise MachineError(
            f"{path}: cannot be read ({error.strerror}); mend the file's permissions"
        ) from None
    except (OSError, ValueError, TypeError, RuntimeError) as error:
        reason = str(getattr(error, "strerror", None) or error).splitlines()[0]
        raise CheckpointError(f"{path}: {reason}; {again}") from None
    return UInt8Input(net).eval()


@torch.no_grad()
def classify(net: nn.Module, images: Tensor) -> Tensor:
    """The classes' probabilities (n, 10) for uint8 images (n, 28, 28)."""
    probabilities: Tensor = net(images).double().softmax(1)
    return probabilities


def main() -> None:
    """Print the classes with their probabilities, the most likely first."""
    runs = list(load(_Params).train.runs)
    if len(sys.argv) not in (2, 3):
        raise ParamsError(
            f"expected a picture file, and a run if not {runs[0]}: python -m lab.tools.classify"
            " PICTURE RUN"
        )
    name = sys.argv[2] if len(sys.argv) == 3 else runs[0]
    if name not in runs:
        known = instead_of(name, runs)
        raise ParamsError(f"{PARAMS_FILE}: no run {name!r} in train.runs; {known}")
    image = read_picture(Path(sys.argv[1]))
    [probabilities] = classify(load_net(name), image)
    for i in probabilities.argsort(descending=True).tolist():
        print(f"{100 * probabilities[i]:6.2f} %  {CLASSES[i]}")


if __name__ == "__main__":
    sys.exit(run(main))
