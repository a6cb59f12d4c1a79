"""Run the stage: `python -m stages.convergence`."""

import sys
from collections.abc import Sequence

import numpy as np
import torch

from lab.core.exit_codes import run
from lab.core.files import REPORTS, write_metrics, write_rows
from lab.core.params import load
from lab.data.datasets import Split, dataset_name, read_fashion_mnist
from lab.data.images import shrink, to_tensors
from lab.machine.allocator import keep_memory
from lab.machine.devices import Devices, resolve
from lab.results.curves import Curve, rows_of
from stages.convergence.epochs_to_target import measure_epochs
from stages.convergence.image_time import measure_image_time
from stages.convergence.names import (
    DIVERGED_PERCENT,
    EPOCHS,
    NOT_REACHED_PERCENT,
    RULES,
    TARGET_PERCENT,
    TRAIN_IMAGES,
    large_batch_penalty,
)
from stages.convergence.over_seeds import epochs_of, median_and_range
from stages.convergence.params import ConvergenceParams, Params
from stages.convergence.train_to_target import Images


def measure(params: Params, devices: Devices, train: Split, test: Split) -> list[Curve]:
    """Measure epochs to the target, then the time of an image."""
    p, device = params.convergence, devices.devices[0]
    torch.backends.cudnn.deterministic = True  # the same seed, the same bits
    train_set, test_set = (small_images(split, p.image_side, device) for split in (train, test))
    return [
        *measure_epochs(p, device, train_set, test_set, params.seed),
        measure_image_time(params, devices, train_set),
    ]


def small_images(split: Split, side: int, device: torch.device) -> Images:
    """A split's images at the size that is trained on, on the device."""
    images, labels = to_tensors(split)
    return Images(shrink(images, side).to(device), labels.to(device))


def summarise(curves: Sequence[Curve], params: ConvergenceParams) -> dict[str, float | str]:
    """What the largest batch costs by each rule, and the share of the runs that failed.

    The penalty is epochs at the largest batch over those at the smallest with the same seed, the
    median with its range. A run that failed counts as the whole budget: a lower bound then.
    """
    epochs = [c for c in curves if c.demo == EPOCHS]
    missed = np.array([~np.isfinite(c.y) for c in epochs])
    diverged = np.array([c.diverged for c in epochs])
    metrics: dict[str, float | str] = {
        TARGET_PERCENT: params.target_accuracy_percent,
        TRAIN_IMAGES: params.train_images,
        NOT_REACHED_PERCENT: round(100 * float((missed - diverged).mean()), 3),
        DIVERGED_PERCENT: round(100 * float(diverged.mean()), 3),
    }
    for rule in RULES:
        capped = np.minimum(epochs_of(epochs, rule), params.max_epochs)
        penalty = median_and_range(capped[:, -1] / capped[:, 0])
        for end, value in zip(("", "_low", "_high"), penalty, strict=True):
            metrics[f"{large_batch_penalty(rule)}{end}"] = round(value, 3)
    return metrics


def main() -> None:
    """Train, time, and write rows and metrics."""
    keep_memory()
    params = load(Params)
    p = params.convergence
    devices = resolve(1, params.devices)
    train = read_fashion_mnist("train").first(p.train_images)
    test = read_fashion_mnist("t10k").first(p.test_images)
    curves = measure(params, devices, train, test)
    write_rows(REPORTS / "convergence", rows_of(curves))
    about: dict[str, float | str] = {
        "dataset": dataset_name(),
        "device_kind": devices.kind,
        "threads_per_device": devices.threads,
    }
    write_metrics(REPORTS / "convergence", about | summarise(curves, p))


if __name__ == "__main__":
    sys.exit(run(main))
