"""Figures and tables of the page on optimizers."""

import re
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import NamedTuple

import numpy as np
from matplotlib.axes import Axes

from lab.report import figures as style
from lab.report.language import say, translation
from lab.report.page import Figure
from lab.report.plots import name_rows
from lab.results.findings import Finding, Findings
from lab.results.measurements import Curve, Measurement, Results, curve_of
from stages.optimizers.measure.names import COUNTING, DECAYING, PROBLEMS, RULES


class RunKey(NamedTuple):
    """An airfoil run, identified by its columns."""

    rule: str
    rate: float
    batch_size: float = 10
    version: str = "from scratch"


Dot = tuple[str, float, float, float]  # a label, a median, and the ends of the middle 50%

# final losses of the airfoil runs that a port of the book prints, from one seed each
PUBLISHED_LOSSES = {
    RunKey("momentum 0.5", 0.02): 0.2455,
    RunKey("AdaGrad", 0.1): 0.2437,
    RunKey("AdaGrad", 0.1, version="concise"): 0.2431,
    RunKey("Adam", 0.01): 0.2454,
    RunKey("Adam", 0.01, version="concise"): 0.2421,
}
HALF_TURN = 180  # degrees: opposite starts end at the same value
BOOK_START_DEGREES = float(np.degrees(np.arctan2(-2, -5))) % HALF_TURN
LEAST_SHOWN = 1e-9  # of values after 20 steps
ONE_FOR_ALL = ("SGD", "momentum 0.9", "Nesterov 0.9")  # one learning rate for all weights
# An optimizer has one colour on the whole page, which no optimizer shown with it shares.
# Explorables name optimizers without their momentum.
COLOURED = (
    *("SGD", "momentum", "AdaGrad", "RMSProp", "Adadelta", "Adam"),
    *("AdamW", "Yogi", "Nesterov"),
)
DASHES = ("-", (0, (4, 2)), (0, (1, 1.5)), (0, (6, 2, 1, 2)), (0, (2, 2)), (0, (8, 2)))


def values(results: Results, found: Findings) -> dict[str, object]:
    minimum = results.conditions["airfoil_minimum"]
    losses = [minimum + c.y[-1] for c in airfoil_runs(results).values()]
    overlapping, pairs = overlapping_pairs(results)
    return {
        "directions": len(results.xs("starts", "GD", turned=0)),
        "optimizers": len(RULES),
        "seeds": len(results.samples("best_rate", "SGD", problem="airfoil").values),
        "least": np.nanmin(losses),
        "most": np.nanmax(losses),
        "overlapping": overlapping,
        "pairs": pairs,
        "boundary_error": max(found["stability_error"].value, 1e-6),
    }


def figures(results: Results, found: Findings) -> list[Figure]:
    lower = {
        angle: found[f"starts_where_adagrad_2_ends_lower_percent_turned_{angle}"]
        for angle in (0, 45)
    }
    return [
        Figure("starts", [partial(_starts, results, *each) for each in lower.items()]),
        Figure("airfoil", [partial(_airfoil, results)]),
        Figure("best_rates", [partial(_best, results, problem) for problem in PROBLEMS]),
        Figure("airfoil_rates", [partial(_rates, results, one) for one in (True, False)]),
        Figure("rare_features", [partial(_rare, results)]),
    ]


def airfoil_runs(results: Results) -> dict[RunKey, Curve]:
    """Return the excess of each of the notes' runs against epochs."""
    found: dict[RunKey, list[Measurement]] = {}
    for m in results.measurements:
        if m.experiment == "airfoil_runs" and m.columns["version"] != "torch's optimizer":
            rate, batch_size, version = (m.columns[k] for k in ("rate", "batch_size", "version"))
            run = RunKey(m.variant, float(rate), float(batch_size), str(version))
            found.setdefault(run, []).append(m)
    return {run: curve_of(series) for run, series in found.items()}


def overlapping_pairs(results: Results) -> tuple[int, int]:
    """Count the pairs of airfoil runs whose interquartile ranges overlap, and all pairs."""
    ends = [(c.low[-1], c.high[-1]) for c in airfoil_runs(results).values()]
    found = [a[0] <= b[1] and b[0] <= a[1] for i, a in enumerate(ends) for b in ends[:i]]
    return int(sum(found)), len(found)


def _name(rule: str) -> str:
    """Return the page's name of an optimizer."""
    words = {
        "GD": say("GD"),
        "Nesterov 0.9": say("Nesterov {beta}", beta=0.9),
        DECAYING: say("SGD, falling with steps"),
        **{f"momentum {beta}": say("momentum {beta}", beta=beta) for beta in (0.5, 0.9)},
    }
    return words.get(rule) or translation(rule)


def _run_name(run: RunKey) -> str:
    """Return the page's name of a run: its optimizer and its settings."""
    batch = [say("batch {size}", size=f"{run.batch_size:g}")] if run.rule == "SGD" else []
    rate = "ρ 0.9" if run.rule == "Adadelta" else say("lr {rate}", rate=f"{run.rate:g}")
    version = {
        "from scratch": [],
        "epsilon inside": [say("ε inside")],
        "uncorrected": [say("uncorrected")],
        "concise": ["torch"],
    }[run.version]
    return say(", ").join([_name(run.rule), *batch, rate, *version])


def place_of(rule: str) -> int:
    """Return the index of an optimizer's colour in `style.COLOURS`."""
    optimizer = "SGD" if rule == "GD" else re.split("[ ,]", rule)[0]
    return COLOURED.index(optimizer) % len(style.COLOURS)


def _colour(rule: str) -> str:
    return style.COLOURS[place_of(rule)]


def _line(axes: Axes, c: Curve, rule: str, place: int, label: str) -> None:
    """Draw a curve and its band in the colour of its rule, with dashes by place in the figure."""
    colour, dashes = _colour(rule), DASHES[place % len(DASHES)]
    axes.plot(c.x, c.y, color=colour, linestyle=dashes, label=label)
    axes.fill_between(c.x, c.low, c.high, color=colour, alpha=0.15, linewidth=0)


def _starts(results: Results, angle: int, percent: Finding, path: Path) -> None:
    runs = (("GD", 0.4), ("AdaGrad", 0.4), ("AdaGrad", 2))
    found = [curve_of(results.series("starts", rule, rate=r, turned=angle)) for rule, r in runs]
    half = found[0].x < HALF_TURN
    x, ys = found[0].x[half], [c.y[half] for c in found]
    with style.figure(path, style.WIDTH, 2.9) as fig:
        axes = fig.add_subplot(
            title=say("Rotated by 45°: AdaGrad (2) wins from {percent:.2g}%", percent=percent.value)
            if angle
            else say("Original axes: AdaGrad (2) wins from {percent:.2g}%", percent=percent.value),
            yscale="log",
            xlim=(0, HALF_TURN),
            ylim=(LEAST_SHOWN, 50),
            xlabel=say("Direction of the start (degrees)"),
            ylabel=say("f after 20 steps"),
        )
        axes.set_xticks(range(0, HALF_TURN + 1, 45))
        axes.fill_between(
            x,
            0,
            1,
            where=list(ys[2] < ys[0]),
            transform=axes.get_xaxis_transform(),
            color=_colour("AdaGrad"),
            alpha=0.13,
            linewidth=0,
        )
        ends = []
        for i, ((rule, rate), y) in enumerate(zip(runs, ys, strict=True)):
            axes.plot(x, y, color=_colour(rule), linestyle=DASHES[i])
            ends.append((f"{_name(rule)} {rate:g}", x[-1], y[-1], _colour(rule)))
        style.label_ends(axes, ends, gap=0.085)
        axes.axvline(BOOK_START_DEGREES, color=style.FAINT, linewidth=1)
        axes.text(
            BOOK_START_DEGREES + 3,
            0.06 if angle else 0.52,
            say("the notes' start"),
            color=style.FAINT_TEXT,
            transform=axes.get_xaxis_transform(),
        )


def _dots(axes: Axes, dots: Sequence[Dot], best: int | None = None) -> None:
    """Draw a row for each dot, its middle 50% as a bar; `best` as a diamond."""
    for i, (_, y, low, high) in enumerate(dots):
        colour = style.COLOURS[2 if i == best else 0]
        axes.plot([low, high], [i, i], color=colour, linewidth=4, alpha=0.4)
        axes.plot(y, i, "D" if i == best else "o", color=colour)
    name_rows(axes, [label for label, *_ in dots])


def _around(values: Sequence[float]) -> tuple[float, float]:
    """Return the limits of a logarithmic axis."""
    finite = [value for value in values if np.isfinite(value) and value > 0]
    return min(finite) / 1.3, 1.3 * max(finite)


def _airfoil(results: Results, path: Path) -> None:
    runs = sorted(airfoil_runs(results).items(), key=lambda item: item[1].y[-1])
    dots = [
        (_run_name(run), *(1e3 * y for y in (c.y[-1], c.low[-1], c.high[-1]))) for run, c in runs
    ]
    published = {
        row: 1e3 * (PUBLISHED_LOSSES[run] - results.conditions["airfoil_minimum"])
        for row, (run, _) in enumerate(runs)
        if run in PUBLISHED_LOSSES and results.conditions["airfoil"] == "original"
    }
    with style.figure(path, style.WIDTH, 0.8 + 0.23 * len(dots)) as fig:
        axes = fig.add_subplot(
            xscale="log",
            xlim=_around([*(n for _, *numbers in dots for n in numbers), *published.values()]),
            xlabel=say("Excess loss (10⁻³)"),
        )
        style.plain_ticks(axes.xaxis)
        _dots(axes, dots)
        axes.plot(list(published.values()), list(published), "x", color=style.INK)


def _best(results: Results, problem: str, path: Path) -> None:
    rules = (*RULES, DECAYING)
    shown = {
        each: [curve_of(results.series("best_rate", rule, problem=each)) for rule in rules]
        for each in PROBLEMS
    }
    everywhere = [y for cs in shown.values() for c in cs for y in (c.y[-1], c.low[-1], c.high[-1])]
    dots = []
    for rule, c in zip(rules, shown[problem], strict=True):
        label = say(", ").join([_name(rule), say("lr {rate}", rate=f"{c.x[-1]:.2g}")])
        dots.append((label, c.y[-1], c.low[-1], c.high[-1]))
    titles = {
        "airfoil": say("Airfoil"),
        "ill": say("Features of different scale"),
        "sparse": say("Rare features"),
    }
    with style.figure(path, style.WIDTH, 0.9 + 0.23 * len(dots)) as fig:
        axes = fig.add_subplot(
            title=titles[problem],
            xscale="log",
            xlim=_around(everywhere),
            xlabel=say("Excess loss after two epochs"),
        )
        _dots(axes, dots, best=int(np.nanargmin([y for _, y, *_ in dots])))


def _rates(results: Results, one_for_all: bool, path: Path) -> None:
    """Draw the optimizers with one learning rate for all weights, or with one for each weight."""
    curves = results.curves("rates", problem="airfoil")
    with style.figure(path, style.WIDTH, 3.4) as fig:
        axes = fig.add_subplot(
            title=say("One learning rate for all weights")
            if one_for_all
            else say("One for each weight"),
            xscale="log",
            yscale="log",
            xlabel=say("Learning rate"),
            ylabel=say("Excess loss after two epochs"),
            xlim=(curves["SGD"].x[0], curves["SGD"].x[-1]),
            ylim=(5e-4, 2),
        )
        for place, rule in enumerate(r for r in RULES if (r in ONE_FOR_ALL) == one_for_all):
            _line(axes, curves[rule], rule, place, _name(rule))
        if one_for_all:
            bound = results.conditions["airfoil_rate_bound"]
            axes.axvline(bound, color=style.FAINT, linestyle="--")
            axes.text(bound * 1.3, 7e-4, "2/λmax", color=style.FAINT_TEXT)
        style.key(fig, axes, columns=3)


def _rare(results: Results, path: Path) -> None:
    labels = {
        "SGD": say("SGD, constant"),
        DECAYING: say("SGD, falling with steps"),
        COUNTING: say("SGD, falling with counts"),
        "AdaGrad": translation("AdaGrad"),
    }
    found = {}
    for name in labels:
        c = curve_of(results.series("feature_errors", name), 100)
        found[name] = replace(c, x=100 * c.x)
    shares = found["SGD"].x
    with style.figure(path, style.WIDTH, 3.3) as fig:
        axes = fig.add_subplot(
            xscale="log",
            yscale="log",
            xlabel=say("Rows that have the feature (%)"),
            ylabel=say("Squared error left (%)"),
            xlim=(shares.min(), shares.max()),
            ylim=_around([n for c in found.values() for n in (*c.low, *c.high)]),
        )
        style.plain_ticks(axes.xaxis)
        style.plain_ticks(axes.yaxis)
        for place, (name, label) in enumerate(labels.items()):
            _line(axes, found[name], name, place, label)
        style.key(fig, axes)
