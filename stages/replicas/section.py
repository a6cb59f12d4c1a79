"""The report's section on replicas (13.5, 13.6): what keeps them one network."""

from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from lab.core.files import read_json, read_rows
from lab.report import figures
from lab.report.language import say
from lab.report.page import Figure, Section, Table, TryThis
from lab.results.curves import Curve, curves_of
from stages.replicas.names import (
    ACCURACY,
    APART,
    BATCH_NORM_CHANGE,
    EPOCHS,
    FOUR_STEPS,
    FROM_ONE_DEVICE,
    GRADIENT_CHANGE,
    IN_PLACE,
    NORM_ACCURACY,
    RUNNING_STATISTICS,
    TRAIN_IMAGES,
    WITH_BATCH_NORM,
    WITHOUT_BATCH_NORM,
)

Demos = dict[str, dict[str, Curve]]


def section(folder: Path) -> Section:
    """The section on the results in `folder` (reports/replicas)."""
    demos, m = curves_of(read_rows(folder / "rows.csv")), read_json(folder / "metrics.json")
    return Section(
        stage="replicas",
        title=say("Replicas: what keeps them one network"),
        book="13.5, 13.6",
        question=say("Do replicas stay one network, and what do the notes' mistakes change?"),
        findings=[_equal(demos), _gradient(demos, m), _running_statistics(demos)],
        figures=[
            Figure(
                "replicas",
                say(
                    "Largest difference of a weight from training on one device, by step, for each"
                    " variant."
                ),
                say(
                    "LeNet on virtual devices with the same batches. The book's way differs by"
                    " rounding; the others are other algorithms."
                ),
                partial(_draw, demos[FROM_ONE_DEVICE]),
            )
        ],
        tables=[_table(demos), _accuracies(demos, m)],
        try_this=TryThis(
            "replicas.num_devices", "4", say("see which mistakes grow with the number of devices")
        ),
    )


def _equal(demos: Demos) -> str:
    one, apart = demos[FROM_ONE_DEVICE], demos[APART]
    equal = say("NOT equal") if apart[IN_PLACE].y.any() else say("equal to the bit at every step")
    worst = max((c for c in one.values() if c.series != IN_PLACE), key=lambda c: c.y[-1])
    return say(
        "Added in place and copied back, as in the book, replicas are {equal}, and end within"
        " {rounding:.1g} of one device's weights: rounding. “{worst}” ends {away:.2g} away,"
        " without any error message.",
        equal=equal,
        rounding=one[IN_PLACE].y[-1],
        worst=worst.series,
        away=worst.y[-1],
    )


def _gradient(demos: Demos, m: dict[str, Any]) -> str:
    change = demos[GRADIENT_CHANGE]
    with_norm, without = change[WITH_BATCH_NORM], change[WITHOUT_BATCH_NORM]
    return say(
        "Batch norm makes {n} devices another network: splitting a batch changes the gradient by"
        " {change:.0f} % of its length ({net}), against {other_change:.1g} % ({other}; medians of"
        " {seeds} seed(s)). Each device takes mean and variance from its own, smaller share of the"
        " batch.",
        n=m["num_devices"],
        change=m[BATCH_NORM_CHANGE],
        net=with_norm.series,
        other_change=np.median(without.y),
        other=without.series,
        seeds=len(without.y),
    )


def _running_statistics(demos: Demos) -> str:
    return say(
        "All-reduce of the gradients keeps ResNet-18's replicas equal in their weights, not in"
        " batch norm's running statistics: these are {apart:.2g} apart after {steps:.0f} steps, so"
        " that the replica that is evaluated matters.",
        apart=demos[FOUR_STEPS][RUNNING_STATISTICS].y[0] / 1e6,
        steps=demos[FOUR_STEPS][RUNNING_STATISTICS].x[0],
    )


def _table(demos: Demos) -> Table:
    rows = [
        [name, f"{c.y[0]:.2g}", f"{c.y[-1]:.2g}", f"{demos[APART][name].y[-1]:.2g}"]
        for name, c in demos[FROM_ONE_DEVICE].items()
    ]
    return Table(
        [
            say("variant"),
            say("from one device after step 1"),
            say("after the last step"),
            say("replicas from each other"),
        ],
        rows,
        say(
            "Largest difference of any weight. Where all replicas are one tensor they cannot part;"
            " they are all wrong."
        ),
    )


def _accuracies(demos: Demos, m: dict[str, Any]) -> Table:
    """Test accuracies of both demos: the notes' recipe by replica, batch norm by arm."""

    def row(net: str, c: Curve) -> list[str]:
        cells = (f"{accuracy:.1f}" for accuracy in (np.median(c.y), min(c.y), max(c.y)))
        return [c.series, net, *cells, str(len(c.y))]

    return Table(
        [
            say("trained on"),
            say("which network"),
            say("% accuracy, the median"),
            say("lowest seed"),
            say("highest seed"),
            say("seeds"),
        ],
        [
            *(row(say("LeNet, the notes' recipe"), c) for c in demos[ACCURACY].values()),
            *(row(say("LeNet with batch norm"), c) for c in demos[NORM_ACCURACY].values()),
        ],
        say(
            "Test accuracy after the last step. The notes' recipe ran for {epochs} epoch(s) of"
            " {images} images; theirs is 10 of 60,000, as in the profile `study`. The notes"
            " evaluate replica 1 alone.",
            epochs=m[EPOCHS],
            images=f"{m[TRAIN_IMAGES]:,}",
        ),
    )


def _draw(curves: dict[str, Curve], path: Path) -> None:
    with figures.figure(path, 9, 3.8) as fig:
        axes = fig.add_subplot(xlabel="step", yscale="log")
        axes.set_title("Largest difference of a weight from one device")
        values = np.concatenate([c.y[c.y > 0] for c in curves.values()])
        axes.set_ylim(values.min() / 3, values.max() * 3)
        figures.draw_curves(axes, list(curves.values()))
