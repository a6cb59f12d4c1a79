"""The house style: SVG figures, direct labels, units, colour-blind safe; the same bytes for the same data."""

import io
import itertools
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import matplotlib as mpl
from cycler import cycler

mpl.use("Agg")  # no display is needed, whatever MPLBACKEND says

import matplotlib.pyplot as plt
from matplotlib.figure import Figure

from lab.records import write_atomically

# Okabe and Ito's colours, which differ for every kind of colour vision; dark and light pages both carry them.
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
    """Yield a figure of `width` x `height` inches in the house style, and write it to `path` as SVG at the end."""
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
    """Return heights for labels of `positions`: at least `gap` apart, in the same order, none above `top`.

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
