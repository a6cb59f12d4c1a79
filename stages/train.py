"""How fast and how well does a network train on one device, and on several? One run of `train.runs`.

The notes' LeNet from scratch, plain SGD on the summed loss divided by the batch, the last, smaller batch of an
epoch kept. With several devices each holds a replica and takes its share of the batch, and the gradients are
summed: the same algorithm, so the curves of one and two devices should lie on each other. Seconds cover training
alone, with all devices synchronised before each reading of the clock.

Read `reports/train/<run>/rows.csv`, one row per epoch. Book: 13.5 (from scratch).
"""

import hashlib
import io
import logging
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Literal, Self

import torch
from pydantic import Field, model_validator
from torch import Tensor
from tqdm import tqdm

from lab import nets
from lab.data import FASHION_COUNTS, Split, dataset_name, read_fashion_mnist
from lab.devices import DeviceParams, Devices, resolve
from lab.errors import ParamsError
from lab.params import PARAMS_FILE, Section, Seed, load
from lab.records import REPORTS, Metrics, Row, write_atomically, write_metrics, write_rows
from lab.runner import run
from lab.stats import summarise as summary
from lab.training import Epoch, train

MODELS = Path("models")
LENET_NAMES = ("W1", "b1", "W2", "b2", "W3", "b3", "W4", "b4")

log = logging.getLogger(__name__)


class RunParams(Section):
    """One training run; the notes' values are those of profiles/full.yaml."""

    net: Literal["lenet"]
    num_gpus: Annotated[int, Field(ge=1, le=64)]
    batch_size: Annotated[int, Field(ge=1, le=FASHION_COUNTS["train"])]
    lr: Annotated[float, Field(gt=0, le=1000)]
    num_epochs: Annotated[int, Field(ge=1, le=10_000)]


class TrainParams(Section):
    """The `train` section of params.yaml."""

    train_images: Annotated[int, Field(ge=1, le=FASHION_COUNTS["train"])]
    test_images: Annotated[int, Field(ge=1, le=FASHION_COUNTS["t10k"])]
    runs: dict[Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]*$")], RunParams] = Field(min_length=1)

    @model_validator(mode="after")
    def _batches_fit(self) -> Self:
        too_big = [
            f"{name}.batch_size {r.batch_size}" for name, r in self.runs.items() if r.batch_size > self.train_images
        ]
        if too_big:
            raise ValueError(
                f"batches of at most train_images ({self.train_images}), got runs.{', runs.'.join(too_big)}"
            )
        return self


class Params(Section):
    """What `train` reads of params.yaml."""

    seed: Seed
    devices: DeviceParams
    train: TrainParams


def measure(
    name: str, run: RunParams, train_set: Split, test_set: Split, devices: Devices, seed: int
) -> tuple[list[Epoch], list[Tensor]]:
    """Train, with a bar on a terminal and a line per epoch, and return the epochs and the final weights."""
    init = nets.lenet_params(torch.Generator().manual_seed(seed))
    num_images = len(train_set.labels)
    epochs: list[Epoch] = []
    with tqdm(total=run.num_epochs * num_images, unit="img", unit_scale=True, desc=name, disable=None) as bar:
        for epoch, params in train(
            nets.lenet, init, _tensors(train_set), _tensors(test_set), devices.devices,
            run.batch_size, run.lr, run.num_epochs, seed, on_step=bar.update,
        ):  # fmt: skip
            epochs.append(epoch)
            weights = params
            with tqdm.external_write_mode():
                log.info(
                    "%s epoch %d/%d: train loss %.4f, test accuracy %.2f %%, %.2f s, %.0f img/s",
                    name, epoch.epoch, run.num_epochs, epoch.train_loss, 100 * epoch.test_accuracy,
                    epoch.seconds, num_images / epoch.seconds,
                )  # fmt: skip
    return epochs, [p.detach().cpu() for p in weights]


def _tensors(split: Split) -> tuple[Tensor, Tensor]:
    return torch.from_numpy(split.images.copy()), torch.from_numpy(split.labels)


def rows_of(epochs: Sequence[Epoch], num_images: int, devices: Devices, dataset: str) -> list[Row]:
    """Return one row per epoch."""
    return [
        {
            "epoch": e.epoch,
            "train_loss": e.train_loss,
            "test_accuracy": e.test_accuracy,
            "seconds": round(e.seconds, 6),
            "images_per_s": round(num_images / e.seconds, 2),
            "device_kind": devices.kind,
            "dataset": dataset,
        }
        for e in epochs
    ]


def summarise(
    settings: RunParams, epochs: Sequence[Epoch], num_images: int, weights: bytes, devices: Devices, dataset: str
) -> Metrics:
    """Return the run in few numbers, after what it was; times are medians over the epochs with their IQR."""
    seconds = summary([e.seconds for e in epochs])
    speed = summary([num_images / e.seconds for e in epochs])
    return {
        "net": settings.net,
        "dataset": dataset,
        "train_images": num_images,
        "batch_size": settings.batch_size,
        "lr": settings.lr,
        "num_epochs": settings.num_epochs,
        "device_kind": devices.kind,
        "num_devices": len(devices.devices),
        "threads_per_device": devices.threads,
        "test_accuracy_percent": round(100 * epochs[-1].test_accuracy, 4),
        "train_loss": round(epochs[-1].train_loss, 6),
        "epoch_s": round(seconds.median, 4),
        "epoch_s_iqr": round(seconds.iqr, 4),
        "images_per_s": round(speed.median, 1),
        "images_per_s_iqr": round(speed.iqr, 1),
        "weights_sha256": hashlib.sha256(weights).hexdigest()[:16],
    }


def to_bytes(weights: Sequence[Tensor]) -> bytes:
    """Return weights as a torch file of named tensors, the same bytes for the same weights."""
    buffer = io.BytesIO()
    torch.save({name: w.contiguous() for name, w in zip(LENET_NAMES, weights, strict=True)}, buffer)
    return buffer.getvalue()


def main() -> None:
    """Train the run named on the command line and write its weights, rows and metrics."""
    params = load(Params)
    name = sys.argv[1] if len(sys.argv) == 2 else ""
    if name not in params.train.runs:
        raise ParamsError(f"{PARAMS_FILE}: no run {name!r} in train.runs; it has {', '.join(params.train.runs)}")
    settings = params.train.runs[name]
    train_set = read_fashion_mnist("train").first(params.train.train_images)
    test_set = read_fashion_mnist("t10k").first(params.train.test_images)
    devices, dataset = resolve(settings.num_gpus, params.devices), dataset_name()
    log.info("%s: %s on %d x %s, %d threads each", name, dataset, settings.num_gpus, devices.kind, devices.threads)

    epochs, final = measure(name, settings, train_set, test_set, devices, params.seed)

    weights, num_images = to_bytes(final), len(train_set.labels)
    write_atomically(MODELS / f"{name}.pt", weights)
    write_rows(REPORTS / "train" / name, rows_of(epochs, num_images, devices, dataset))
    write_metrics(REPORTS / "train" / name, summarise(settings, epochs, num_images, weights, devices, dataset))


if __name__ == "__main__":
    sys.exit(run(main))
