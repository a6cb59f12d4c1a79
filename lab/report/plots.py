"""The plots that several questions share, each a panel of a figure.

A page's `figures.py` says in a line or two what is plotted; this module decides how it looks.
"""

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import LogLocator
from numpy.typing import NDArray

from lab.report import figures
from lab.report.numbers import number
from lab.report.page import Draw
from lab.results.findings import Finding
from lab.results.stats import SMALLEST_EFFECT

ROW = 0.34  # height of a row of dots or bars, in inches
FRAME = 0.95  # height above and below the rows, in inches
LETTERS = 0.17  # height of a line of text, in inches
MOST_DOTS = 2000  # on a bar: more cannot be told apart
MOST_IN_A_LINE = 20  # letters of a row's name
ROOM = 1.15  # factor of margin on a logarithmic axis

Numbers = Sequence[float] | NDArray[np.float64]  # a list, or a curve's array


def dots(
    rows: Mapping[str, Finding],
    xlabel: str,
    title: str = "",
    *,
    one: float | None = 1.0,
    virtual: bool = False,
) -> Draw:
    """Plot a dot with its interval and number for each row, on a logarithmic axis; first on top.

    Args:
        rows: numbers by the rows' names, with intervals if they have any.
        xlabel: the quantity and its unit.
        title: the panel's title, if the figure has several.
        one: position of a reference line, such as equal speed, in a band of differences too small
            to count; None for no line.
        virtual: whether this was measured on virtual devices.
    """

    def draw(path: Path) -> None:
        with figures.figure(path, figures.WIDTH, FRAME + ROW * len(rows)) as fig:
            axes = fig.add_subplot()
            _label(axes, xlabel, "", title)
            if one is not None:
                factor = 1 + SMALLEST_EFFECT
                axes.axvspan(
                    one / factor, one * factor, color=figures.FAINT, alpha=0.4, linewidth=0
                )
                axes.axvline(one, color=figures.INK, linewidth=1)
            for row, x in enumerate(rows.values()):
                axes.plot([x.low, x.high], [row, row], color=figures.COLOURS[0], linewidth=2.5)
                axes.plot(x.value, row, "o", color=figures.COLOURS[0], markersize=7)
                _write(axes, x.high, row, number(x))
            name_rows(axes, list(rows))
            _limit(axes, [end for x in rows.values() for end in (x.low, x.high)], one)
            if virtual:
                figures.say_virtual(fig)

    return draw


def bars(
    rows: Mapping[str, Sequence[float]], xlabel: str, title: str = "", *, virtual: bool = False
) -> Draw:
    """Plot each row's median as a bar with its number, and the samples as dots over it.

    Args:
        rows: samples by the rows' names; a single one if the number does not vary.
        xlabel: the quantity and its unit.
        title: the panel's title, if the figure has several.
        virtual: whether this was measured on virtual devices.
    """

    def draw(path: Path) -> None:
        with figures.figure(path, figures.WIDTH, FRAME + ROW * len(rows)) as fig:
            axes = fig.add_subplot()
            _label(axes, xlabel, "", title)
            for row, samples in enumerate(rows.values()):
                varies = len(samples) > 1
                axes.barh(
                    row,
                    np.median(samples),
                    height=0.6,
                    facecolor="none" if varies or virtual else figures.COLOURS[0],
                    edgecolor=figures.COLOURS[0],
                    hatch=figures.VIRTUAL_HATCH if virtual else None,
                )
                if varies:
                    _dot_samples(axes, row, samples)
                _write(axes, max(samples), row, number(float(np.median(samples)), 3))
            name_rows(axes, list(rows))
            axes.set_xlim(0, 1.2 * max(max(samples) for samples in rows.values()))

    return draw


@dataclass(frozen=True)
class Line:
    """A line of a plot: its name, written at its end, its points, and a band around it."""

    name: str
    x: Numbers
    y: Numbers
    low: Numbers | None = None
    high: Numbers | None = None
    style: str = "-"
    faint: bool = False  # not measured here: the book's numbers, a model


def lines(
    shown: Sequence[Line],
    xlabel: str,
    ylabel: str,
    title: str = "",
    *,
    xscale: str = "linear",
    yscale: str = "linear",
    height: float = 2.8,
    virtual: bool = False,
) -> Draw:
    """Plot lines with bands, each named at its end.

    Args:
        shown: the lines.
        xlabel: the quantity and its unit.
        ylabel: the same for the other axis.
        title: the panel's title, if the figure has several.
        xscale: `linear` or `log`.
        yscale: the same for the other axis.
        height: the panel's height in inches.
        virtual: whether this was measured on virtual devices.
    """

    def draw(path: Path) -> None:
        with figures.figure(path, figures.WIDTH, height) as fig:
            axes = fig.add_subplot(xscale=xscale, yscale=yscale)
            _label(axes, xlabel, ylabel, title)
            ends = []
            colours = iter(figures.COLOURS)
            for line in shown:
                colour = figures.FAINT if line.faint else next(colours)
                axes.plot(line.x, line.y, line.style, color=colour, linewidth=1.8)
                if line.low is not None and line.high is not None:
                    axes.fill_between(
                        line.x, line.low, line.high, color=colour, alpha=0.2, linewidth=0
                    )
                ends.append((line.name, line.x[-1], line.y[-1], colour))
            if xscale == "log":
                plain_axis(axes, "x")
            elif all(float(x).is_integer() for line in shown for x in line.x):
                axes.locator_params(axis="x", integer=True)
            axes.autoscale_view()  # the labels' places depend on the final limits
            figures.label_ends(axes, ends, gap=LETTERS / (height - FRAME))
            if virtual:
                figures.say_virtual(fig)

    return draw


@dataclass(frozen=True)
class Span:
    """A piece of work on a timeline: its kind, start and end."""

    kind: str
    start: float
    end: float


def timeline(
    rows: Mapping[str, Sequence[Span]], xlabel: str, title: str = "", *, virtual: bool = False
) -> Draw:
    """Plot a timeline: a row for each device or stream, a colour for each kind of work."""

    def draw(path: Path) -> None:
        kinds = dict.fromkeys(span.kind for spans in rows.values() for span in spans)
        colours = dict(zip(kinds, figures.COLOURS, strict=False))
        with figures.figure(path, figures.WIDTH, FRAME + 0.3 + ROW * len(rows)) as fig:
            axes = fig.add_subplot()
            _label(axes, xlabel, "", title)
            for row, spans in enumerate(rows.values()):
                for span in spans:
                    label = span.kind if span.kind in kinds else f"_{span.kind}"
                    kinds.pop(span.kind, None)
                    axes.barh(
                        row,
                        span.end - span.start,
                        left=span.start,
                        height=0.6,
                        facecolor=colours[span.kind],
                        edgecolor=figures.PAPER,
                        hatch=figures.VIRTUAL_HATCH if virtual else None,
                        label=label,
                    )
            name_rows(axes, list(rows))
            figures.key(fig, axes)

    return draw


def name_rows(axes: Axes, rows: Sequence[str]) -> None:
    for at, name in enumerate(rows):
        name_row(axes, at, name)
    axes.set_yticks([])
    axes.set_ylim(len(rows) - 0.4, -0.6)


def name_row(axes: Axes, at: float, name: str, **style: Any) -> None:
    """Write a row's name left of the axes, each line as a separate right-aligned text."""
    lines = name.split("\n")
    for n, line in enumerate(lines):
        axes.annotate(
            line,
            (0, at),
            (-5, figures.LINE * ((len(lines) - 1) / 2 - n)),
            xycoords=axes.get_yaxis_transform(),
            textcoords="offset points",
            ha="right",
            va="center",
            **style,
        )


def in_two_lines(label: str) -> str:
    """Break a row's name at its first comma or colon, else near the middle if it is long."""
    if mark := re.search(r"[,:] |，", label):
        return f"{label[: mark.start() + 1]}\n{label[mark.end() :]}"
    spaces = [i for i, letter in enumerate(label) if letter == " "]
    if len(label) <= MOST_IN_A_LINE or not spaces:
        return label
    middle = min(spaces, key=lambda i: abs(i - len(label) // 2))
    return f"{label[:middle]}\n{label[middle + 1 :]}"


def plain_axis(axes: Axes, which: str) -> None:
    """Label a logarithmic axis with plain numbers; over a wide range only at powers of ten."""
    axis = axes.xaxis if which == "x" else axes.yaxis
    low, high = axis.get_view_interval()
    figures.plain_ticks(axis)
    if high > 100 * low:
        axis.set_major_locator(LogLocator())


def _dot_samples(axes: Axes, row: int, samples: Sequence[float]) -> None:
    """Draw a bar's samples from its upper to its lower edge, in the order of measuring."""
    shown = samples[:: math.ceil(len(samples) / MOST_DOTS)]
    heights = np.linspace(row - 0.18, row + 0.18, len(shown))
    axes.plot(shown, heights, "o", color=figures.INK, markersize=2.5)


def _label(axes: Axes, xlabel: str, ylabel: str, title: str) -> None:
    axes.set_xlabel(xlabel)
    axes.set_ylabel(ylabel)
    if title:
        axes.set_title(title, x=0)


def _write(axes: Axes, x: float, row: float, text: str) -> None:
    """Write a number to the right of `x` in its row."""
    axes.annotate(text, (x, row), (7, 0), textcoords="offset points", va="center")


def _limit(axes: Axes, shown: Sequence[float], one: float | None) -> None:
    """Set limits with room for the dots' numbers; an interval that ends at 0 exceeds them."""
    ends = [end for end in (*shown, one or 0) if end > 0]
    low, high = min(ends), max(ends)
    axes.set(xscale="log", xlim=(low / ROOM, high * ROOM * (high / low) ** 0.12))
    plain_axis(axes, "x")
