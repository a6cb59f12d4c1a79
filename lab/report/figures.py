"""The house style of figures: SVG, direct labels, units, colour-blind safe, reproducible bytes."""

import io
import itertools
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
from cycler import cycler

mpl.use("Agg")  # no display is needed, whatever MPLBACKEND says

import matplotlib.pyplot as plt
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, LogLocator, NullLocator

from lab.core.files import write_atomically
from lab.results.curves import Curve

# Okabe and Ito's colours, told apart by every kind of colour vision on dark and light pages.
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9")
INK = "#24292f"  # text and axes; the page replaces it by its own text colour
FAINT = "#8c959f"  # what is not measured here: the book's numbers, guides
PAPER = "#ffffff"
VIRTUAL_HATCH = "////"  # marks whatever was measured on virtual devices

STYLE: dict[Any, Any] = {
    "svg.fonttype": "none",  # text stays text: small files, searchable, read aloud
    "font.family": "sans-serif",
    "font.size": 11,
    "axes.edgecolor": INK,
    "axes.labelcolor": INK,
    "axes.titlesize": 11,
    "axes.titleweight": "bold",
    "axes.titlelocation": "left",
    "axes.titlecolor": INK,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.prop_cycle": cycler(color=COLOURS),
    "xtick.color": INK,
    "ytick.color": INK,
    "text.color": INK,
    "grid.color": FAINT,
    "grid.alpha": 0.3,
    "axes.grid": True,
    "axes.axisbelow": True,
    "figure.facecolor": PAPER,
    "axes.facecolor": "none",
    "savefig.facecolor": PAPER,
    "hatch.linewidth": 0.8,
}


@contextmanager
def figure(path: Path, width: float, height: float) -> Iterator[Figure]:
    """A figure of `width` x `height` inches in the house style, written to `path` on leaving."""
    with mpl.rc_context(STYLE | {"svg.hashsalt": path.stem}):
        fig = plt.figure(figsize=(width, height), layout="constrained")
        try:
            yield fig
            content = io.BytesIO()
            fig.savefig(content, format="svg", metadata={"Date": None, "Creator": None})
        finally:
            plt.close(fig)
    write_atomically(path, content.getvalue())


def spread_labels(positions: list[float], gap: float, top: float) -> list[float]:
    """Heights for labels of `positions`: at least `gap` apart, in the same order, none above `top`.

    One pass pushes crowded labels up, a second pushes what went over the top down.
    """
    order = sorted(range(len(positions)), key=positions.__getitem__)
    placed = list(positions)
    for below, above in itertools.pairwise(order):
        placed[above] = max(placed[above], placed[below] + gap)
    ceiling = top
    for index in reversed(order):
        placed[index] = min(placed[index], ceiling)
        ceiling = placed[index] - gap
    return placed


def label_ends(
    axes: Axes, labels: Sequence[tuple[str, float, float, str]], gap: float = 0.055
) -> None:
    """Write each line's name in its colour at its end, right of the axes; no two overlap.

    Args:
        axes: with its limits and scales set.
        labels: (name, x, y, colour) of each line's last point, in data coordinates.
        gap: between labels, as a share of the axes' height.
    """
    to_axes = axes.transData + axes.transAxes.inverted()
    heights = [float(np.clip(to_axes.transform((x, y))[1], 0, 1)) for _, x, y, _ in labels]
    for (name, _, _, colour), height in zip(labels, spread_labels(heights, gap, 1.0), strict=True):
        axes.text(
            1.015, height, name, color=colour, va="center", transform=axes.transAxes, fontsize=10
        )


def draw_curves(axes: Axes, curves: Sequence[Curve], labels: bool = True) -> None:
    """Draw each curve with its band in a colour of its own, and name it at its end.

    The axes' limits and scales must be set before.
    """
    ends = []
    for i, c in enumerate(curves):
        colour, dashes = COLOURS[i % len(COLOURS)], ("-", (0, (4, 2)))[i // len(COLOURS) % 2]
        axes.plot(c.x, c.y, color=colour, linestyle=dashes)
        axes.fill_between(c.x, c.low, c.high, color=colour, alpha=0.18, linewidth=0)
        finite = np.flatnonzero(np.isfinite(c.y))
        if len(finite):
            ends.append((c.series, float(c.x[finite[-1]]), float(c.y[finite[-1]]), colour))
    if labels:
        label_ends(axes, ends)


def plain_ticks(axis: Axis) -> None:
    """Label a logarithmic axis with plain numbers at 1, 2 and 5 times the powers of ten.

    Where its limits, which are set before, are closer than that, at more.
    """
    low, high = axis.get_view_interval()
    subs = (1, 2, 5) if high > 8 * low else (1, 1.2, 1.5, 2, 2.5, 3, 4, 5, 6, 8)
    axis.set_major_locator(LogLocator(subs=subs))
    axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axis.set_minor_locator(NullLocator())


def bars(axes: Axes, names: Sequence[str], values: Sequence[float], text: str = "{:.3g}") -> None:
    """Draw a horizontal bar for each name, the first on top, with its value written at its end."""
    axes.barh(range(len(values)), values, color=COLOURS[0], height=0.6)
    for i, value in enumerate(values):
        axes.annotate(
            text.format(value), (value, i), (5, 0), textcoords="offset points", va="center"
        )
    axes.set_yticks(range(len(values)), names)
    axes.invert_yaxis()
    axes.grid(visible=False, axis="y")


def bar_with_samples(
    axes: Axes, row: int, samples: Sequence[float], colour: str, virtual: bool = False
) -> None:
    """Draw samples as dots over their median as a bar in `row`, hatched on virtual devices."""
    hatch = VIRTUAL_HATCH if virtual else None
    axes.barh(row, np.median(samples), height=0.6, facecolor="none", edgecolor=colour, hatch=hatch)
    # in the order of measuring, so that a drift shows
    heights = np.linspace(row - 0.18, row + 0.18, len(samples))
    axes.plot(samples, heights, "o", color=INK, markersize=2.5)
