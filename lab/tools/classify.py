"""What does a trained run see in a picture? `invoke predict PICTURE`."""

import hashlib
from pathlib import Path

import torch
from torch import Tensor, nn

from lab.core.errors import CheckpointError, MachineError, ParamsError, instead_of
from lab.core.files import CONDITIONS, REPORTS
from lab.core.params import PARAMS_FILE, Section, load
from lab.core.shared_params import NetName
from lab.data.datasets import CLASSES
from lab.nets.models import MODELS, UInt8Input
from lab.results.documents import Document, read_document
from lab.tools.picture import read_picture
from lab.training.checkpoints import tensors_in
from lab.training.run_params import TrainParams

WEIGHTS = Path("models")
UNSURE = 0.6  # with a lower probability the net is often wrong


class _Params(Section):
    train: TrainParams


class _RunConditions(Document):
    net: NetName
    weights_sha256: str


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


def predict(picture: Path, run: str = "") -> None:
    """Print what was done to the picture, and the classes, the most likely first.

    If no run is named, the first one that has been trained here answers.
    """
    runs = list(load(_Params).train.runs)
    trained = [each for each in runs if (WEIGHTS / f"{each}.pt").exists()]
    name = run or [*trained, *runs][0]
    if name not in runs:
        known = instead_of(name, runs)
        raise ParamsError(f"{PARAMS_FILE}: no run {name!r} in train.runs; {known}")
    image, done = read_picture(picture)
    net = load_net(name)
    [probabilities] = classify(net, torch.from_numpy(image)[None])
    print(f"{picture.name}: {', '.join(done) or 'as it is'}; seen by {name}")
    for i in probabilities.argsort(descending=True).tolist():
        print(f"{100 * probabilities[i]:6.2f} %  {CLASSES[i]}")
    if probabilities.max() < UNSURE:
        print(f"not sure: no class has {100 * UNSURE:.0f} %")
