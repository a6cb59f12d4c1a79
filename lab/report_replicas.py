"""The report's section on replicas (13.5, 13.6): what keeps them one network."""

from pathlib import Path
from typing import Any

import numpy as np

from lab import figures
from lab.curves import Curve, curves_of
from lab.page import Figure, Section, Table, TryThis
from lab.records import read_json, read_rows
from lab.words import say

IN_PLACE = "in place, copies (the book)"


def section(folder: Path, drawings: Path) -> Section:
    """Draw the figure of `folder` (reports/replicas) into `drawings` and return the section."""
    demos, m = curves_of(read_rows(folder / "rows.csv")), read_json(folder / "metrics.json")
    _draw(demos["from_one_device"], drawings / "replicas.svg")
    return Section(
        stage="replicas",
        title="Replicas: what keeps them one network",
        book="13.5, 13.6",
        question="Do replicas stay one network, and what do the notes' mistakes change?",
        findings=_findings(demos, m),
        figures=[
            Figure(
                "replicas",
                "Largest difference of a weight from training on one device, by step, for each variant.",
                "LeNet on virtual devices with the same batches. The book's way differs by rounding; the others"
                " are other algorithms.",
            )
        ],
        tables=[_table(demos)],
        try_this=TryThis("replicas.num_devices", "4", say("see which mistakes grow with the number of devices")),
    )


def _findings(demos: dict[str, dict[str, Curve]], m: dict[str, Any]) -> list[str]:
    one, apart, change = demos["from_one_device"], demos["apart"], demos["gradient_change"]
    with_norm, without = change.values()
    equal = "equal to the bit at every step" if not apart[IN_PLACE].y.any() else "NOT equal"
    worst = max((c for c in one.values() if c.series != IN_PLACE), key=lambda c: c.y[-1])
    return [
        (
            f"Added in place and copied back, as in the book, replicas are {equal}, and end within"
            f" {one[IN_PLACE].y[-1]:.1g} of one device's weights: rounding. “{worst.series}” ends"
            f" {worst.y[-1]:.2g} away, without any error message."
        ),
        (
            f"Batch norm makes {with_norm.x[0]:.0f} devices another network: splitting a batch changes the"
            f" gradient by {100 * with_norm.y[0]:.0f} % of its length ({with_norm.series}), against"
            f" {100 * without.y[0]:.1g} % ({without.series}). Each device takes mean and variance from its own,"
            " smaller share of the batch."
        ),
    ]


def _table(demos: dict[str, dict[str, Curve]]) -> Table:
    rows = [
        [name, f"{c.y[0]:.2g}", f"{c.y[-1]:.2g}", f"{demos['apart'][name].y[-1]:.2g}"]
        for name, c in demos["from_one_device"].items()
    ]
    return Table(
        ["variant", "from one device after step 1", "after the last step", "replicas from each other"],
        rows,
        "Largest difference of any weight. Where all replicas are one tensor they cannot part; they are all wrong.",
    )


def _draw(curves: dict[str, Curve], path: Path) -> None:
    with figures.figure(path, 9, 3.8) as fig:
        axes = fig.add_subplot(xlabel="step", yscale="log")
        axes.set_title("Largest difference of a weight from one device")
        values = np.concatenate([c.y[c.y > 0] for c in curves.values()])
        axes.set_ylim(values.min() / 3, values.max() * 3)
        figures.draw_curves(axes, list(curves.values()))
