"""The report's section on replicas (13.5, 13.6): what keeps them one network."""

from functools import partial
from pathlib import Path

import numpy as np

from lab.core.files import read_rows
from lab.report import figures
from lab.report.language import say
from lab.report.page import Figure, Section, Table, TryThis
from lab.results.curves import Curve, curves_of
from stages.replicas.names import (
    APART,
    FROM_ONE_DEVICE,
    GRADIENT_CHANGE,
    IN_PLACE,
    WITH_BATCH_NORM,
    WITHOUT_BATCH_NORM,
)

Demos = dict[str, dict[str, Curve]]


def section(folder: Path) -> Section:
    """The section on the results in `folder` (reports/replicas)."""
    demos = curves_of(read_rows(folder / "rows.csv"))
    return Section(
        stage="replicas",
        title=say("Replicas: what keeps them one network"),
        book="13.5, 13.6",
        question=say("Do replicas stay one network, and what do the notes' mistakes change?"),
        findings=_findings(demos),
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
        tables=[_table(demos)],
        try_this=TryThis(
            "replicas.num_devices", "4", say("see which mistakes grow with the number of devices")
        ),
    )


def _findings(demos: Demos) -> list[str]:
    one, apart, change = demos[FROM_ONE_DEVICE], demos[APART], demos[GRADIENT_CHANGE]
    with_norm, without = change[WITH_BATCH_NORM], change[WITHOUT_BATCH_NORM]
    equal = say("NOT equal") if apart[IN_PLACE].y.any() else say("equal to the bit at every step")
    worst = max((c for c in one.values() if c.series != IN_PLACE), key=lambda c: c.y[-1])
    return [
        say(
            "Added in place and copied back, as in the book, replicas are {equal}, and end within"
            " {rounding:.1g} of one device's weights: rounding. “{worst}” ends {away:.2g} away,"
            " without any error message.",
            equal=equal,
            rounding=one[IN_PLACE].y[-1],
            worst=worst.series,
            away=worst.y[-1],
        ),
        say(
            "Batch norm makes {n:.0f} devices another network: splitting a batch changes the"
            " gradient by {change:.0f} % of its length ({net}), against {other_change:.1g} %"
            " ({other}). Each device takes mean and variance from its own, smaller share of the"
            " batch.",
            n=with_norm.x[0],
            change=100 * with_norm.y[0],
            net=with_norm.series,
            other_change=100 * without.y[0],
            other=without.series,
        ),
    ]


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


def _draw(curves: dict[str, Curve], path: Path) -> None:
    with figures.figure(path, 9, 3.8) as fig:
        axes = fig.add_subplot(xlabel="step", yscale="log")
        axes.set_title("Largest difference of a weight from one device")
        values = np.concatenate([c.y[c.y > 0] for c in curves.values()])
        axes.set_ylim(values.min() / 3, values.max() * 3)
        figures.draw_curves(axes, list(curves.values()))
