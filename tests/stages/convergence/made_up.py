"""Made-up results of convergence on a CPU or a GPU."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from lab.core.files import CONDITIONS, write_json, write_rows
from lab.machine.devices import DeviceKind
from lab.results.derived import write_metrics
from lab.results.measurements import Measurement, by_seed, rows_of
from stages.convergence import findings
from stages.convergence.__main__ import settings
from stages.convergence.measure.names import FIXED, LARS, MOMENTUM, PLAIN, SCALED
from stages.convergence.measure.params import ConvergenceParams, NetParams, StemParams

LENET_RUNS = NetParams(
    batch_sizes=[64, 256, 4096],
    lr=0.1,
    warm_up_epochs=1.0,
    target_accuracy_percent=60.0,
    max_epochs=8,
    num_seeds=8,
    tuning_seeds=1,
)
CONVERGENCE = ConvergenceParams(
    image_side=14,
    train_images=4096,
    test_images=100,
    lenet=LENET_RUNS,
    resnet18=LENET_RUNS.model_copy(update={"batch_sizes": [256, 4096], "num_seeds": 0}),
    staleness=[0, 3],
    short_images=640,
    stems=StemParams(num_seeds=0, images=64, batch_size=16, lr=0.01),
)
WITH_RESNET18 = CONVERGENCE.model_copy(
    update={
        "resnet18": CONVERGENCE.resnet18.model_copy(update={"num_seeds": 8}),
        "stems": CONVERGENCE.stems.model_copy(update={"num_seeds": 8}),
    }
)
CAP = float(LENET_RUNS.max_epochs)

SeedEpochs = Mapping[tuple[str, int], list[float]]  # by variant and batch size

# each seed's epochs to the target, CAP if it was not reached
LENET_EPOCHS: SeedEpochs = {
    (FIXED, 64): [1.0, 2.0] * 4,
    (FIXED, 256): [4.0, 6.0] * 4,
    (FIXED, 4096): [CAP] * 8,
    (SCALED, 256): [1.0, 2.0] * 4,
    (SCALED, 4096): [6.0, CAP] * 4,
    (MOMENTUM, 64): [1.0] * 8,
    (MOMENTUM, 4096): [4.0, 6.0] * 4,
    (LARS, 4096): [2.0] * 8,
}
RESNET18_EPOCHS: SeedEpochs = {
    (FIXED, 256): [2.0, 3.0] * 4,
    (FIXED, 4096): [CAP] * 8,
    (SCALED, 4096): [3.0, CAP] * 4,
    (MOMENTUM, 256): [0.5] * 8,
    (MOMENTUM, 4096): [2.5] * 8,
    (LARS, 4096): [1.0] * 8,
}
LENET_US = {64: 200.0, 256: 100.0, 4096: 50.0}  # per image
RESNET18_US = {256: 2000.0, 4096: 1000.0}


def lenet_results() -> list[Measurement]:
    """Return the stage's measurements of LeNet."""
    made = of_runs("lenet", LENET_EPOCHS, LENET_US)
    for staleness, percent in ((0, 70.0), (3, 60.0)):
        runs = by_seed("short_run", PLAIN, [percent] * 8)
        made.append(replace(runs, columns={"net": "lenet", "staleness": staleness}))
    return made + times("notes_us_per_image", "lenet", {16: 300.0, 256: 150.0})


def of_runs(
    net: str, seed_epochs: SeedEpochs, us_per_image: Mapping[int, float]
) -> list[Measurement]:
    """Return a net's results; runs at a scaled rate that miss the target diverge."""
    made = []
    for (variant, n), epochs in seed_epochs.items():
        missed = [e == CAP for e in epochs]
        for experiment, values in (
            ("epochs", epochs),
            ("reached", [not each for each in missed]),
            ("diverged", [each and variant == SCALED for each in missed]),
        ):
            measured = by_seed(experiment, variant, values)
            made.append(replace(measured, columns={"net": net, "batch_size": n}))
    return made + times("us_per_image", net, us_per_image)


def times(experiment: str, net: str, us_per_image: Mapping[int, float]) -> list[Measurement]:
    return [
        Measurement(experiment, PLAIN, 0, (us,) * 8, "us", columns={"net": net, "batch_size": n})
        for n, us in us_per_image.items()
    ]


def write(reports: Path, kind: DeviceKind = "cpu-virtual") -> None:
    """Write the rows and metrics of `convergence` under `reports`; a GPU also trains ResNet-18."""
    made, params = lenet_results(), CONVERGENCE
    if kind == "cuda":
        made += of_runs("resnet18", RESNET18_EPOCHS, RESNET18_US)
        made += [by_seed("by_stem", stem, [y] * 8) for stem, y in (("small", 80), ("original", 70))]
        params = WITH_RESNET18
    folder = reports / "convergence"
    write_rows(folder, rows_of(made))
    conditions = {"device_kind": kind, "dataset": "fashion-mnist"}
    write_json(folder / CONDITIONS, {**conditions, **settings(params)})
    write_metrics(folder, findings)
