"""Made-up results of replicas, as a CPU would leave them."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from lab.core.files import Metrics, write_metrics, write_rows
from lab.results.curves import Curve, line, rows_of
from stages.replicas import __main__ as replicas
from stages.replicas.measure.names import (
    ACCURACY,
    ALIASING,
    APART,
    BLANK_FORMATS,
    CELLS,
    CHANGED_ORIGINALS,
    FOUR_STEPS,
    FROM_ONE_DEVICE,
    FULLER_SHARE,
    GRADIENT_CHANGE,
    IN_PLACE,
    LOCAL,
    MEAN_UPDATE,
    MEANS,
    NEITHER_SUM_NOR_MEAN,
    NONES,
    NORM_ACCURACY,
    ONE_DEVICE,
    REBINDING,
    REBINDING_HIDES,
    REFUSED_ADDITIONS,
    RUNNING_STATISTICS,
    SEPARATE,
    STEPS_ON_ONE,
    SUM_OFF,
    UNEVEN,
    WEIGHTS,
    WITH_BATCH_NORM,
    WITHOUT_BATCH_NORM,
    ZEROS,
    replica_of,
)
from stages.replicas.measure.params import AccuracyParams, BatchNormParams, ReplicaParams

PARAMS = ReplicaParams(
    num_devices=2,
    batch_size=9,
    num_steps=3,
    accuracy=AccuracyParams(num_seeds=8, num_epochs=10, train_images=60_000, test_images=10_000),
    batch_norm=BatchNormParams(
        num_seeds=8,
        images_per_device=256,
        num_steps=3,
        test_images=10_000,
        gradient_images_per_device=256,
    ),
)

# after the last of three steps: the largest difference from one device, and between replicas
ENDS = {IN_PLACE: (1e-7, 0.0), REBINDING: (0.02, 0.02), ALIASING: (0.04, 0.0), MEANS: (0.001, 0.0)}
CELLS_HERE = {
    ZEROS: 0,
    NONES: 8,
    CHANGED_ORIGINALS: 8,
    SUM_OFF: 0,
    NEITHER_SUM_NOR_MEAN: 0,
    REBINDING_HIDES: 1,
    MEAN_UPDATE: 50,
    FULLER_SHARE: 50,
    UNEVEN: 7,
    REFUSED_ADDITIONS: 1,
    STEPS_ON_ONE: 2,
    BLANK_FORMATS: 0,
}
# % accuracy beside that of seed number s, which adds s / 10
ACCURACIES = {
    ONE_DEVICE: 83.0,
    replica_of(IN_PLACE, 1): 83.5,
    replica_of(IN_PLACE, 2): 83.5,
    replica_of(REBINDING, 1): 82.0,
    replica_of(REBINDING, 2): 70.0,
}
NORM_ACCURACIES = {ONE_DEVICE: 76.0, LOCAL: 75.5, SEPARATE: 70.0}
DIFFER_IN = {WEIGHTS: 0.0, RUNNING_STATISTICS: 62_000.0}


def replicas_curves(
    ends: Mapping[str, tuple[float, float]] = ENDS,
    batch_norm_change: float = 128.0,
    cells: Mapping[str, float] = CELLS_HERE,
    accuracies: Mapping[str, float] = ACCURACIES,
    norm_accuracies: Mapping[str, float] = NORM_ACCURACIES,
    differ_in: Mapping[str, float] = DIFFER_IN,
    seeds: Sequence[int] = range(8),
) -> list[Curve]:
    """What the stage measures; all variants but the book's go away from one device."""
    made = [line(CELLS, name, [0], [value]) for name, value in cells.items()]
    for variant, (from_one, apart) in ends.items():
        made.append(
            line(FROM_ONE_DEVICE, variant, [1, 2, 3], [from_one / 4, from_one / 2, from_one])
        )
        made.append(line(APART, variant, [1, 2, 3], [apart / 4, apart / 2, apart]))
    for net, change in ((WITH_BATCH_NORM, batch_norm_change), (WITHOUT_BATCH_NORM, 2e-5)):
        made.append(line(GRADIENT_CHANGE, net, seeds, [change] * len(seeds)))
    for demo, percents in ((ACCURACY, accuracies), (NORM_ACCURACY, norm_accuracies)):
        for name, percent in percents.items():
            made.append(line(demo, name, seeds, [percent + s / 10 for s in seeds]))
    made += [line(FOUR_STEPS, what, [2], [value]) for what, value in differ_in.items()]
    return made


def replicas_metrics(curves: list[Curve], params: ReplicaParams = PARAMS) -> Metrics:
    """The metrics of what was measured."""
    about: Metrics = {"dataset": "fashion-mnist", "num_devices": params.num_devices}
    return {**about, **replicas.summarise(curves, params)}


def write_replicas(reports: Path, curves: list[Curve] | None = None) -> None:
    """Write the rows and metrics of `replicas` under `reports`."""
    made = curves or replicas_curves()
    write_rows(reports / "replicas", rows_of(made))
    write_metrics(reports / "replicas", replicas_metrics(made))
