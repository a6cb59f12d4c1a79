"""Made-up results of convergence, as a CPU or a GPU would leave them."""

from dataclasses import replace
from pathlib import Path

import numpy as np

from lab.core.files import write_metrics, write_rows
from lab.machine.devices import DeviceKind
from lab.results.curves import Curve, curve, line
from lab.results.curves import rows_of as rows_of_curves
from stages.convergence import __main__ as convergence
from stages.convergence.params import ConvergenceParams
from stages.convergence.train_to_target import RULES

CONVERGENCE = ConvergenceParams(
    image_side=14,
    train_images=1000,
    test_images=100,
    batch_sizes=[10, 100],
    lr=0.1,
    warm_up_epochs=1.0,
    target_accuracy_percent=60.0,
    max_epochs=8,
    num_seeds=3,
)


INF = float("inf")


# of three seeds, at the small and the large batch: all reach it, one does not, none does
EPOCHS = {
    RULES[0]: ((1, 4), (2, 4), (1, 8)),
    RULES[1]: ((1, 1), (2, 2), (1, INF)),
    RULES[2]: ((1, INF), (2, INF), (1, INF)),
}


def convergence_curves(
    epochs: dict[str, tuple[tuple[float, float], ...]] | None = None,
) -> list[Curve]:
    """Return what the stage `convergence` measures; runs of the last rule that fail have
    diverged.
    """
    x, made = CONVERGENCE.batch_sizes, []
    for rule, seeds in (epochs or EPOCHS).items():
        for i, seed in enumerate(seeds):
            c = line("epochs", f"{rule}, seed {i}", x, seed)
            made.append(
                replace(c, diverged=np.isinf(c.y).astype(float) if rule == RULES[2] else c.diverged)
            )
    times = [np.full(8, 200.0), np.full(8, 100.0)]
    return [*made, curve("us_per_image", "one device", x, times)]


def write_convergence(
    reports: Path, kind: DeviceKind = "cpu-virtual", curves: list[Curve] | None = None
) -> None:
    """Write the rows and metrics of `convergence` under `reports`."""
    made = curves or convergence_curves()
    write_rows(reports / "convergence", rows_of_curves(made))
    metrics = {"device_kind": kind} | convergence.summarise(made, CONVERGENCE)
    write_metrics(reports / "convergence", metrics)
