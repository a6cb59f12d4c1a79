"""Made-up results of convergence, as a CPU or a GPU would leave them."""

from dataclasses import replace
from pathlib import Path

import numpy as np

from lab.core.files import write_metrics, write_rows
from lab.machine.devices import DeviceKind
from lab.results.curves import Curve, curve, line, rows_of
from stages.convergence import __main__ as convergence
from stages.convergence.names import (
    EPOCHS,
    FIXED,
    LINEAR,
    ONE_DEVICE,
    US_PER_IMAGE,
    WARM_UP,
    seed_of,
)
from stages.convergence.params import ConvergenceParams

CONVERGENCE = ConvergenceParams(
    image_side=14,
    train_images=1000,
    test_images=100,
    batch_sizes=[64, 256],
    lr=0.1,
    warm_up_epochs=1.0,
    target_accuracy_percent=60.0,
    max_epochs=8,
    num_seeds=3,
)
INF = float("inf")
SeedEpochs = dict[str, tuple[tuple[float, float], ...]]

# of three seeds, at the small and the large batch: all reach it, one does not, none does
SEED_EPOCHS: SeedEpochs = {
    FIXED: ((1, 4), (2, 4), (1, 8)),
    LINEAR: ((1, 1), (2, 2), (1, INF)),
    WARM_UP: ((1, INF), (2, INF), (1, INF)),
}


def convergence_curves(seed_epochs: SeedEpochs = SEED_EPOCHS) -> list[Curve]:
    """What the stage measures; runs with warm-up that fail have diverged."""
    x, made = CONVERGENCE.batch_sizes, []
    for rule, seeds in seed_epochs.items():
        for i, seed in enumerate(seeds):
            c = line(EPOCHS, seed_of(rule, i), x, seed)
            failed = np.isinf(c.y).astype(float)
            made.append(replace(c, diverged=failed if rule == WARM_UP else c.diverged))
    times = [np.full(8, 200.0), np.full(8, 100.0)]
    return [*made, curve(US_PER_IMAGE, ONE_DEVICE, x, times)]


def write_convergence(
    reports: Path, kind: DeviceKind = "cpu-virtual", curves: list[Curve] | None = None
) -> None:
    """Write the rows and metrics of `convergence` under `reports`."""
    made = curves or convergence_curves()
    write_rows(reports / "convergence", rows_of(made))
    conditions = {"device_kind": kind, "dataset": "fashion-mnist"}
    metrics = conditions | convergence.summarise(made, CONVERGENCE)
    write_metrics(reports / "convergence", metrics)
