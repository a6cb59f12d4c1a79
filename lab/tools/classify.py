"""What does a trained run see in a picture? `invoke predict PICTURE`.

The picture is brought into Fashion-MNIST's form: grey, 28 x 28, a light garment on black.
"""

import sys
from pathlib import Path

import numpy as np
import torch
from PIL import Image, ImageOps
from torch import Tensor, nn

from lab.core.errors import DataError, LabError, ParamsError
from lab.core.exit_codes import run
from lab.core.files import REPORTS, read_json
from lab.core.params import PARAMS_FILE, read_yaml
from lab.data.datasets import CLASSES, IMAGE_SHAPE
from lab.nets.models import MODELS, OnBytes

WEIGHTS = Path("models")
# no others: opening an EPS file runs the PostScript in it
FORMATS = ("PNG", "JPEG", "GIF", "WEBP", "BMP")


def read_picture(path: Path) -> Tensor:
    """Read a picture file as one uint8 image (1, 28, 28), inverted if its edge is light.

    Raises:
        DataError: missing, or not a picture.
    """
    try:
        with Image.open(path, formats=FORMATS) as file:
            upright = ImageOps.exif_transpose(file).convert("RGBA")
    except (OSError, ValueError, SyntaxError, Image.DecompressionBombError) as error:
        raise DataError(
            f"{path}: not a picture ({error}); give a PNG, JPEG, GIF, WebP or BMP file"
        ) from None
    paper = Image.new("RGBA", upright.size, "white")
    grey = Image.alpha_composite(paper, upright).convert("L")
    pixels = np.asarray(grey)
    edge = np.concatenate([pixels[0], pixels[-1], pixels[:, 0], pixels[:, -1]])
    if edge.mean() > 127:
        grey = ImageOps.invert(grey)
    return torch.from_numpy(np.array(ImageOps.pad(grey, IMAGE_SHAPE, color=0)))[None]


def load_net(name: str) -> nn.Module:
    """The trained net of a run, in evaluation mode, for uint8 images (n, 28, 28).

    Raises:
        LabError: the run has not been trained here yet.
    """
    kind = read_json(REPORTS / "train" / name / "metrics.json")["net"]
    path = WEIGHTS / f"{name}.pt"
    if not path.is_file():
        raise LabError(f"{path}: not there yet; `invoke train {name}` makes it")
    net = MODELS[kind](torch.Generator())
    net.load_state_dict(torch.load(path, weights_only=True))
    return OnBytes(net).eval()


@torch.no_grad()
def classify(net: nn.Module, images: Tensor) -> Tensor:
    """The classes' probabilities (n, 10) for uint8 images (n, 28, 28)."""
    probabilities: Tensor = net(images).double().softmax(1)
    return probabilities


def main() -> None:
    """Print the classes with their probabilities, the most likely first."""
    runs = list(read_yaml(PARAMS_FILE)["train"]["runs"])
    if len(sys.argv) not in (2, 3):
        raise ParamsError(
            f"expected a picture file, and a run if not {runs[0]}: python -m lab.tools.classify"
            " PICTURE RUN"
        )
    name = sys.argv[2] if len(sys.argv) == 3 else runs[0]
    if name not in runs:
        raise ParamsError(f"{PARAMS_FILE}: no run {name!r} in train.runs; it has {', '.join(runs)}")
    image = read_picture(Path(sys.argv[1]))
    [probabilities] = classify(load_net(name), image)
    for i in probabilities.argsort(descending=True).tolist():
        print(f"{100 * probabilities[i]:6.2f} %  {CLASSES[i]}")


if __name__ == "__main__":
    sys.exit(run(main))
