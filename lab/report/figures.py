"""The house style of figures: SVG, direct labels, units, colour-blind safe, reproducible bytes.

A figure is drawn once in each language, by the code that has the values. A panel is at most `WIDTH`
wide and its text at least `SMALLEST`, so that a phone shows it with 9 pixels a letter.
"""

import io
import itertools
import os
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

# a home that cannot be written to is none to ask
os.environ.setdefault("MPLCONFIGDIR", str(Path(".lab/matplotlib").absolute()))

import matplotlib as mpl
import numpy as np
from cycler import cycler
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine
from matplotlib.patches import Patch
from matplotlib.ticker import (
    AutoLocator,
    FuncFormatter,
    LogFormatterSciNotation,
    LogLocator,
    NullLocator,
)
from PIL import Image

from lab.report.language import CHINESE, language, say, superscript
from lab.report.numbers import number
from lab.report.wide_letters import WIDE_LETTERS, know_wide_letters

mpl.rcdefaults()  # whatever a user's matplotlibrc says

WIDTH = 5.0  # inches of a panel: 360 pt, which 360 pixels of a phone show nearly as they are
SMALLEST = 10  # points of a letter
CARD = (7.5, 3.9375)  # inches of a link's preview: 1200 x 630 pixels
PNG_DPI = 160
MOST_TICKS = 6  # of an axis, where a drawing does not set them

# Okabe and Ito's colours, told apart by every kind of colour vision on dark and light pages.
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9")
# The same on text, dark enough for it: a contrast of 4.5 or more with white (WCAG 1.4.3).
TEXT_COLOURS = ("#00629a", "#a84a00", "#00704f", "#9c3d73", "#8a5f00", "#1a6e9e")
INK = "#24292f"  # text and axes; the page replaces it by its own text colour
FAINT = "#8c959f"  # lines of what is not measured here: the book's numbers, guides
FAINT_TEXT = "#5b646d"  # and their names
PAPER = "#ffffff"
LETTERS = "DejaVu Sans"
# in an SVG: where a reader has no such font, Verdana is about as wide
FAMILY = f"font-family: '{LETTERS}', Verdana, sans-serif"
LINE = 1.2 * SMALLEST  # points from a line of text to the next
VIRTUAL_HATCH = "////"  # marks whatever was measured on virtual devices

STYLE: dict[Any, Any] = {
    "svg.fonttype": "none",  # text stays text: small files, searchable, read aloud
    "font.family": LETTERS,
    "font.size": SMALLEST,
    "axes.edgecolor": INK,
    "axes.labelcolor": INK,
    "axes.titlesize": SMALLEST,
    "axes.titleweight": "bold",
    "axes.titlelocation": "left",
    "axes.titlecolor": INK,
    "axes.titley": 1.0,  # nothing is above an axes that a title would have to make room for
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.prop_cycle": cycler(color=COLOURS),
    "xtick.color": INK,
    "ytick.color": INK,
    "xtick.major.pad": 6,
    # the grid's lines say where a number is
    **{f"{axis}tick.{kind}.size": 0 for axis in "xy" for kind in ("major", "minor")},
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
def figure(
    path: Path, width: float, height: float, room: tuple[float, float, float, float] = (0, 0, 1, 1)
) -> Iterator[Figure]:
    """A figure of `width` x `height` inches in the house style, written to `path` on leaving.

    It is an SVG, or a PNG if the path says so. `room` is what axes may take of it: left, bottom,
    width and height, as shares.
    """
    style = STYLE | {"svg.hashsalt": path.stem}
    if language() == CHINESE:
        know_wide_letters()
        style["font.family"] = [LETTERS, WIDE_LETTERS]
    with mpl.rc_context(style):
        engine = ConstrainedLayoutEngine(rect=room)
        fig = Figure(figsize=(width, height), layout=engine)
        FigureCanvasAgg(fig)  # measures texts
        yield fig
        for axes in fig.axes:
            _settle_ticks(axes)
        engine.execute(fig)
        fig.set_layout_engine(None)  # with one, saving draws everything another time
        drawn = _as_png(fig) if path.suffix == ".png" else _as_svg(fig)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(drawn)


def _as_svg(fig: Figure) -> bytes:
    content = io.BytesIO()
    fig.savefig(content, format="svg", metadata={"Date": None, "Creator": None})
    return re.sub('font-family: [^;"]*', FAMILY, content.getvalue().decode()).encode()


def _as_png(fig: Figure) -> bytes:
    drawn, small = io.BytesIO(), io.BytesIO()
    fig.savefig(drawn, format="png", dpi=PNG_DPI)
    # with a palette, a third of the bytes; and no word of when and by what it was drawn
    Image.open(drawn).convert("RGB").quantize(128).save(small, "png", optimize=True)
    return small.getvalue()


def _settle_ticks(axes: Axes) -> None:
    """Have both axes show the same numbers in each language, however much room its labels leave.

    Powers of ten are text, 0.01 or 10⁻⁸: formulas take long to set. Minor ticks would have neither
    mark, label nor line, and take as long as all that is seen.
    """
    axes.minorticks_off()
    place = axes.get_subplotspec()
    rows, columns = place.get_gridspec().get_geometry() if place else (1, 1)
    for axis, share in ((axes.xaxis, columns), (axes.yaxis, rows)):
        most, locator = max(3, MOST_TICKS // share), axis.get_major_locator()
        if type(locator) is AutoLocator:
            locator.set_params(nbins=most)
        elif type(locator) is LogLocator:
            locator.set_params(numticks=most)
        if type(axis.get_major_formatter()) is LogFormatterSciNotation:
            axis.set_major_formatter(FuncFormatter(_power_in_words))


def _power_in_words(value: float, position: int) -> str:
    power = round(np.log10(value))
    if -3 <= power <= 4:
        return f"{value:,g}"
    return f"10{superscript(str(power))}"


def text_colour(colour: str) -> str:
    """The colour of text that names a line of `colour`."""
    known = dict(zip(COLOURS, TEXT_COLOURS, strict=True)) | {FAINT: FAINT_TEXT}
    return known.get(colour, colour)


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
            1.015, height, name, color=text_colour(colour), va="center", transform=axes.transAxes
        )


def plain_ticks(axis: Axis) -> None:
    """Label a logarithmic axis with plain numbers at 1, 2 and 5 times the powers of ten.

    Where its limits, which are set before, are closer than that, at more.
    """
    low, high = axis.get_view_interval()
    subs = (1, 2, 5) if high > 8 * low else (1, 1.2, 1.5, 2, 2.5, 3, 4, 5, 6, 8)
    axis.set_major_locator(LogLocator(subs=subs))
    axis.set_major_formatter(FuncFormatter(_plainly))
    axis.set_minor_locator(NullLocator())


def _plainly(value: float, position: int) -> str:
    return f"{value:,g}" if 1e-3 <= value < 1e5 else number(value, 1)


def key(fig: Figure, axes: Axes, columns: int = 2) -> None:
    """Name the labelled lines under the axes, each beside a piece of its line, dashes included."""
    fig.legend(
        *axes.get_legend_handles_labels(),
        loc="outside lower center",
        ncols=columns,
        frameon=False,
        handlelength=2.4,
    )


def say_virtual(fig: Figure) -> None:
    """Say under a figure of lines or dots that it shows virtual devices; of bars hatches say it."""
    swatch = Patch(facecolor="none", edgecolor=INK, hatch=VIRTUAL_HATCH, linewidth=0.8)
    fig.legend([swatch], [say("virtual devices")], loc="outside lower right", frameon=False)
