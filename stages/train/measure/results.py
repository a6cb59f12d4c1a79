"""What a run leaves: rows by epoch, its metrics, and its weights."""

import hashlib
import io
from collections.abc import Mapping, Sequence
from pathlib import Path

import torch
from torch import Tensor

from lab.core.files import REPORTS, Metrics, Row, write_metrics, write_rows
from lab.core.outputs import write_own
from lab.machine.devices import Devices
from lab.machine.hardware import add_machine
from lab.results.stats import summarise as summary
from lab.training.loop import Epoch
from lab.training.run_params import RunParams
from stages.train.measure.names import (
    EPOCH_S,
    EPOCH_S_IQR,
    FINAL_ACCURACY,
    FINAL_LOSS,
    SECONDS,
    TEST_ACCURACY,
    TRAIN_LOSS,
    WEIGHTS,
    WEIGHTS_HASH,
)

COMPARED = (FINAL_ACCURACY, FINAL_LOSS, EPOCH_S)


def rows_of(epochs: Sequence[Epoch], devices: Devices, dataset: str) -> list[Row]:
    """One row per epoch."""
    return [
        {
            "epoch": e.epoch,
            TRAIN_LOSS: e.train_loss,
            TEST_ACCURACY: e.test_accuracy,
            SECONDS: round(e.seconds, 6),
            "resumed": int(e.resumed),
            "device_kind": devices.kind,
            "dataset": dataset,
        }
        for e in epochs
    ]


def summarise(
    recipe: RunParams, devices: Devices, dataset: str, epochs: Sequence[Epoch], weights: bytes
) -> Metrics:
    """A run's recipe, what it ran on, and what it gave in few numbers.

    Its time is the median over the epochs, of which interrupted ones count only if all are.
    """
    timed = [e.seconds for e in epochs if not e.resumed] or [e.seconds for e in epochs]
    seconds = summary(timed)
    return recipe.model_dump(exclude={"num_gpus", "test_images"}) | {
        "dataset": dataset,
        "device_kind": devices.kind,
        "num_devices": len(devices.devices),
        "threads_per_device": devices.threads,
        FINAL_ACCURACY: round(100 * epochs[-1].test_accuracy, 4),
        FINAL_LOSS: round(epochs[-1].train_loss, 6),
        EPOCH_S: round(seconds.median, 4),
        EPOCH_S_IQR: round(seconds.iqr, 4),
        WEIGHTS_HASH: hashlib.sha256(weights).hexdigest()[:16],
    }


def to_bytes(weights: Mapping[str, Tensor]) -> bytes:
    """A net's state as a torch file of named tensors; equal weights give equal bytes."""
    buffer = io.BytesIO()
    torch.save({name: w.detach().cpu().contiguous() for name, w in weights.items()}, buffer)
    return buffer.getvalue()


def write(name: str, weights: bytes, rows: Sequence[Row], metrics: Metrics) -> None:
    """Write what a run leaves."""
    folder = REPORTS / "train" / name
    write_own(Path(WEIGHTS.format(run=name)), weights)
    write_rows(folder, rows)
    write_metrics(folder, metrics, COMPARED)
    add_machine(folder)
