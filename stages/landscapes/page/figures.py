"""Figures and tables of the page on landscapes."""

from dataclasses import replace
from pathlib import Path

import numpy as np

from lab.report import plots
from lab.report.figures import COLOURS, WIDTH, figure, label_ends
from lab.report.language import say, translation
from lab.report.page import Figure
from lab.report.plots import Line
from lab.results.findings import Findings, Over, median
from lab.results.measurements import Curve, Results, curve_of
from stages.landscapes.findings import FEW, LAST_STEP, MANY


def values(results: Results, found: Findings) -> dict[str, object]:
    distance = gap(results)

    def share_down(saddle: str, dimension: int) -> float:
        shares = results.samples("ways_down", saddle, dimension=dimension)
        return median(shares, over=Over.SEEDS).value

    return {
        "best_step": int(results.xs("best_step", "other rows")[0]),
        "last_step": LAST_STEP,
        "fewest": int(distance.x[0]),
        "most": int(distance.x[-1]),
        "far": float(distance.y[0]),
        "close": float(distance.y[-1]),
        "few": FEW,
        "many": MANY,
        "down": {
            name: [share_down(name, d) for d in (FEW, MANY)] for name in ("one way down", "random")
        },
    }


def figures(results: Results, found: Findings) -> list[Figure]:
    return [
        Figure("landscapes", [overfitting(results), escape(results)]),
        Figure("landscapes_gap", [shrinking(results)]),
    ]


def gap(results: Results) -> Curve:
    """Return the distance of n examples' minimum from the true one: median and middle 50%."""
    low, middle, high = (
        results.curves("argmin_gap", quantile=q)["distance of the minimisers"]
        for q in (0.25, 0.5, 0.75)
    )
    return replace(middle, low=low.y, high=high.y)


def overfitting(results: Results) -> plots.Draw:
    """Draw both errors against the steps of descent."""
    curves = results.curves("overfitting")
    names = {"other rows": say("new data"), "rows trained on": say("training data")}
    found = {name: curves[variant] for variant, name in names.items()}
    return plots.lines(
        [banded(name, c) for name, c in found.items()],
        say("Steps of gradient descent"),
        say("Half the mean squared error"),
        say("Overfitting"),
        xscale="log",
    )


def escape(results: Results) -> plots.Draw:
    """Draw how long each optimizer stays on the saddle, by the start's distance from its line."""
    names = {
        "GD": say("gradient descent"),
        "GD with noise": say("with noise"),
        "momentum 0.9": say("momentum"),
        "Adam": translation("Adam"),
    }

    def draw(path: Path) -> None:
        with figure(path, WIDTH, 2.8) as fig:
            axes = fig.add_subplot(
                title=say("Leaving a saddle"),
                xlabel=say("n, for a start 10⁻ⁿ from the line x₂ = 0"),
                ylabel=say("Steps until |x₂| > 1"),
                xlim=(0.8, 12.2),
            )
            ends = []
            for variant, marker, colour in zip(names, "os^D", COLOURS, strict=False):
                series = results.series("saddle_escape", variant)  # x = 0 has no logarithm
                c = curve_of([m for m in reversed(series) if m.x > 0])
                axes.plot(-np.log10(c.x), c.y, f"{marker}-", color=colour, markersize=3.5)
                ends.append((names[variant], 12.0, float(c.y[-1]), colour))
            axes.set_ylim(0, 1.05 * max(end for _, _, end, _ in ends))
            label_ends(axes, ends, gap=0.08)

    return draw


def shrinking(results: Results) -> plots.Draw:
    """Draw the distance of a sample's minimum from the true one, with the slope of theory."""
    c = gap(results)
    theory = c.y[0] * (c.x / c.x[0]) ** -0.5
    return plots.lines(
        [
            banded(say("measured distance"), c),
            Line(say("theory"), c.x.tolist(), theory.tolist(), style="--", faint=True),
        ],
        say("Examples in the sample, n"),
        say("Distance of the minimizers (in x)"),
        xscale="log",
        yscale="log",
        height=3.6,
    )


def banded(name: str, c: Curve) -> Line:
    return Line(name, c.x, c.y, c.low, c.high)
