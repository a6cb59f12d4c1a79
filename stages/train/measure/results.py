"""Results of a run: rows by epoch, conditions, metrics and weights."""

import hashlib
import io
from collections.abc import Mapping, Sequence
from pathlib import Path

import torch
from torch import Tensor

from lab.core.files import CONDITIONS, METRICS, REPORTS, Metrics, Row, write_json, write_rows
from lab.core.outputs import write_own
from lab.machine.devices import Devices
from lab.machine.hardware import add_machine
from lab.results import derived
from lab.training.loop import Epoch
from lab.training.run_params import RunParams
from stages.train import findings

WEIGHTS = "models/{run}.pt"  # under the project's root


def rows_of(epochs: Sequence[Epoch], seed: int, devices: Devices, dataset: str) -> list[Row]:
    return [
        {
            "epoch": e.epoch,
            "seed": seed,
            "train_loss": e.train_loss,
            "test_accuracy": e.test_accuracy,
            "seconds": round(e.seconds, 6),
            "resumed": int(e.resumed),
            "device_kind": devices.kind,
            "dataset": dataset,
        }
        for e in epochs
    ]


def conditions_of(recipe: RunParams, devices: Devices, dataset: str, weights: bytes) -> Metrics:
    """Return a run's recipe, its devices, and the hash of its weights."""
    return recipe.model_dump(exclude={"num_gpus"}) | {
        "dataset": dataset,
        "device_kind": devices.kind,
        "num_devices": len(devices.devices),
        "threads_per_device": devices.threads,
        "weights_sha256": hashlib.sha256(weights).hexdigest()[:16],
    }


def to_bytes(weights: Mapping[str, Tensor]) -> bytes:
    """Return a net's state as a torch file of named tensors; equal weights give equal bytes."""
    buffer = io.BytesIO()
    torch.save({name: w.detach().cpu().contiguous() for name, w in weights.items()}, buffer)
    return buffer.getvalue()


def write_epochs(name: str, rows: Sequence[Row]) -> None:
    """Write the epochs so far, so that a running run's curve can be watched.

    Delete the rest of an earlier run's results; without conditions.json, results are incomplete.
    """
    folder = REPORTS / "train" / name
    for earlier in (METRICS, CONDITIONS):
        (folder / earlier).unlink(missing_ok=True)
    write_rows(folder, rows)


def write(name: str, weights: bytes, rows: Sequence[Row], conditions: Metrics) -> None:
    folder = REPORTS / "train" / name
    write_own(Path(WEIGHTS.format(run=name)), weights)
    write_rows(folder, rows)
    write_json(folder / CONDITIONS, conditions)
    add_machine(folder)
    derived.write_metrics(folder, findings)
