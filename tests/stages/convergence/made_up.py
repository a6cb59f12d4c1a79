"""Made-up results of convergence, as a CPU or a GPU would leave them."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np

from lab.core.files import write_metrics, write_rows
from lab.machine.devices import DeviceKind
from lab.results.curves import Curve, line, rows_of
from stages.convergence import __main__ as convergence
from stages.convergence.measure.names import (
    BY_STEM,
    EPOCHS,
    FIXED,
    LARS,
    LENET,
    MOMENTUM,
    NOTES_US_PER_IMAGE,
    REACHED,
    RESNET18,
    ROOT,
    SCALED,
    SHORT_RUN,
    STEMS,
    US_PER_IMAGE,
    at_batch,
    batch,
    of_net,
    stale,
)
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
SHORT_RUNS = {stale(0): 70.0, stale(3): 60.0}  # percent


TIMES = {64: 200.0, 256: 100.0, 4096: 50.0}  # microseconds per image


def convergence_curves(changes: dict[str, list[float]] | None = None) -> list[Curve]:
    """What the stage measures of LeNet."""
    made = of_runs(LENET, SEED_EPOCHS | (changes or {}), TIMES)
    made += [line(SHORT_RUN, variant, range(8), [y] * 8) for variant, y in SHORT_RUNS.items()]
    notes = {16: 300.0, 256: 150.0}
    made += [line(NOTES_US_PER_IMAGE, batch(n), range(8), [t] * 8) for n, t in notes.items()]
    return made


def resnet18_curves(changes: dict[str, list[float]] | None = None) -> list[Curve]:
    """What it measures of ResNet-18 where that is trained, too: half of LeNet's epochs."""
    sizes = CONVERGENCE.resnet18.batch_sizes
    seed_epochs = {
        at_batch(variant, n): [e / 2 if e < CAP else CAP for e in SEED_EPOCHS[at_batch(variant, n)]]
        for variant in (FIXED, SCALED, ROOT, LARS)
        for n in sizes
        if at_batch(variant, n) in SEED_EPOCHS and not (variant in (SCALED, ROOT) and n == sizes[0])
    }
    seed_epochs |= {at_batch(MOMENTUM, 256): [0.5] * 8, at_batch(MOMENTUM, 4096): [2.5] * 8}
    times = {n: 20 * TIMES[n] for n in sizes}
    stems = [
        line(BY_STEM, stem, range(8), [y] * 8) for stem, y in zip(STEMS, (80, 70), strict=True)
    ]
    return [*of_runs(RESNET18, seed_epochs | (changes or {}), times), *stems]


def of_runs(
    net: str, seed_epochs: Mapping[str, list[float]], times: Mapping[int, float]
) -> list[Curve]:
    """A net's curves; runs at a scaled rate that do not reach the target diverge."""
    made = []
    for series, epochs in seed_epochs.items():
        seeds = range(len(epochs))
        reached = [float(e < CAP) for e in epochs]
        diverged = 1 - np.array(reached) if SCALED in series else np.zeros(len(epochs))
        made += [
            replace(line(of_net(EPOCHS, net), series, seeds, epochs), diverged=diverged),
            line(of_net(REACHED, net), series, seeds, reached),
        ]
    images = of_net(US_PER_IMAGE, net)
    return made + [line(images, batch(n), range(8), [t] * 8) for n, t in times.items()]


def write(
    reports: Path, kind: DeviceKind = "cpu-virtual", curves: list[Curve] | None = None
) -> None:
    """Write the rows and metrics of `convergence` under `reports`; a GPU trains ResNet-18, too."""
    made = curves or [*convergence_curves(), *(resnet18_curves() if kind == "cuda" else [])]
    both = any(c.experiment == of_net(EPOCHS, RESNET18) for c in made)
    params = WITH_RESNET18 if both else CONVERGENCE
    write_rows(reports / "convergence", rows_of(made))
    conditions = {"device_kind": kind, "dataset": "fashion-mnist"}
    metrics = {**conditions, **convergence.summarise(made, params)}
    write_metrics(reports / "convergence", metrics)
