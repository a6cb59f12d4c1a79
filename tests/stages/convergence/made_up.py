"""Made-up results of convergence, as a CPU or a GPU would leave them."""

from dataclasses import replace
from pathlib import Path

import numpy as np

from lab.core.files import write_metrics, write_rows
from lab.machine.devices import DeviceKind
from lab.results.curves import Curve, line, rows_of
from stages.convergence import __main__ as convergence
from stages.convergence.names import (
    ACCURACY,
    EPOCHS,
    FEW_IMAGES,
    FIXED,
    LARS,
    MOMENTUM,
    NOTES_US_PER_IMAGE,
    REACHED,
    ROOT,
    SCALED,
    SHORT_RUN,
    US_PER_IMAGE,
    at_batch,
    batch,
    stale,
)
from stages.convergence.params import ConvergenceParams

CONVERGENCE = ConvergenceParams(
    image_side=14,
    train_images=4096,
    test_images=100,
    batch_sizes=[64, 256, 4096],
    lr=0.1,
    warm_up_epochs=1.0,
    target_accuracy_percent=60.0,
    max_epochs=8,
    num_seeds=8,
    tuning_seeds=1,
    staleness=[0, 3],
    short_images=640,
)
CAP = float(CONVERGENCE.max_epochs)

# epochs to the target of each seed, CAP where it was not reached
SEED_EPOCHS = {
    at_batch(FIXED, 64): [1.0, 2.0] * 4,
    at_batch(FIXED, 256): [4.0, 6.0] * 4,
    at_batch(FIXED, 4096): [CAP] * 8,
    at_batch(SCALED, 256): [1.0, 2.0] * 4,
    at_batch(SCALED, 4096): [6.0, CAP] * 4,
    at_batch(ROOT, 256): [2.0, 4.0] * 4,
    at_batch(ROOT, 4096): [7.0] * 8,
    at_batch(MOMENTUM, 64): [1.0] * 8,
    at_batch(MOMENTUM, 4096): [4.0, 6.0] * 4,
    at_batch(LARS, 4096): [2.0] * 8,
}
SHORT_RUNS = {stale(0): 70.0, stale(3): 60.0, FEW_IMAGES: 65.0}  # percent


def convergence_curves(changes: dict[str, list[float]] | None = None) -> list[Curve]:
    """What the stage measures; runs at a scaled rate that do not reach the target diverge."""
    made = []
    for series, epochs in (SEED_EPOCHS | (changes or {})).items():
        seeds = range(len(epochs))
        reached = [float(e < CAP) for e in epochs]
        diverged = 1 - np.array(reached) if SCALED in series else np.zeros(len(epochs))
        made += [
            replace(line(EPOCHS, series, seeds, epochs), diverged=diverged),
            line(REACHED, series, seeds, reached),
            line(ACCURACY, series, [0.5, 1.0], [0.3, 0.6]),
        ]
    made += [line(SHORT_RUN, arm, range(8), [y] * 8) for arm, y in SHORT_RUNS.items()]
    times = {64: 200.0, 256: 100.0, 4096: 50.0}
    made += [line(US_PER_IMAGE, batch(n), range(8), [t] * 8) for n, t in times.items()]
    notes = {16: 300.0, 256: 150.0}
    made += [line(NOTES_US_PER_IMAGE, batch(n), range(8), [t] * 8) for n, t in notes.items()]
    return made


def write(
    reports: Path, kind: DeviceKind = "cpu-virtual", curves: list[Curve] | None = None
) -> None:
    """Write the rows and metrics of `convergence` under `reports`."""
    made = curves or convergence_curves()
    write_rows(reports / "convergence", rows_of(made))
    conditions = {"device_kind": kind, "dataset": "fashion-mnist"}
    metrics = {**conditions, **convergence.summarise(made, CONVERGENCE)}
    write_metrics(reports / "convergence", metrics)
