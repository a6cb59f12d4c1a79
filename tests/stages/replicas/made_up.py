"""Made-up results of replicas, as a CPU would leave them."""

from pathlib import Path

from lab.core.files import write_metrics, write_rows
from lab.results.curves import Curve, line, rows_of
from stages.replicas import __main__ as replicas
from stages.replicas.names import (
    ALIASING,
    APART,
    FROM_ONE_DEVICE,
    GRADIENT_CHANGE,
    IN_PLACE,
    MEANS,
    REBINDING,
    WITH_BATCH_NORM,
    WITHOUT_BATCH_NORM,
)

# after the last of three steps: the largest difference from one device, and between replicas
ENDS = {IN_PLACE: (1e-7, 0.0), REBINDING: (0.02, 0.02), ALIASING: (0.04, 0.0), MEANS: (0.001, 0.0)}


def replicas_curves(
    ends: dict[str, tuple[float, float]] = ENDS, batch_norm_change: float = 1.28
) -> list[Curve]:
    """What the stage measures; all variants but the book's go away from one device."""
    made = []
    for variant, (from_one, apart) in ends.items():
        made.append(
            line(FROM_ONE_DEVICE, variant, [1, 2, 3], [from_one / 4, from_one / 2, from_one])
        )
        made.append(line(APART, variant, [1, 2, 3], [apart / 4, apart / 2, apart]))
    for net, change in ((WITH_BATCH_NORM, batch_norm_change), (WITHOUT_BATCH_NORM, 2e-7)):
        made.append(line(GRADIENT_CHANGE, net, [2, 4], [change, change]))
    return made


def write_replicas(reports: Path, curves: list[Curve] | None = None) -> None:
    """Write the rows and metrics of `replicas` under `reports`."""
    made = curves or replicas_curves()
    write_rows(reports / "replicas", rows_of(made))
    write_metrics(reports / "replicas", {"dataset": "fashion-mnist", **replicas.summarise(made)})
