"""The house style of figures: SVG, direct labels, units, colour-blind safe, reproducible bytes.

The code that has the values draws a figure once in each language. A panel is at most `WIDTH` wide
and its text at least `SMALLEST`, so that a phone shows letters of 9 pixels.
"""

import io
import itertools
import os
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

# the home folder may be read-only
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

mpl.rcdefaults()  # ignore a user's matplotlibrc

WIDTH = 5.0  # of a panel, in inches: 360 pt, close to the 360 pixels of a phone
SMALLEST = 10  # size of a letter, in points
CARD = (7.5, 3.9375)  # of a link's preview, in inches: 1200 x 630 pixels
PNG_DPI = 160
MOST_TICKS = 6  # per axis, unless a drawing sets them

# Okabe and Ito's colours, distinct for every kind of colour vision on dark and light pages.
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9")
# The same, darkened for text: a contrast of 4.5 or more with white (WCAG 1.4.3).
TEXT_COLOURS = ("#00629a", "#a84a00", "#00704f", "#9c3d73", "#8a5f00", "#1a6e9e")
INK = "#24292f"  # text and axes; the page replaces it with its own text colour
FAINT = "#8c959f"  # lines not measured here: the book's numbers, guides
FAINT_TEXT = "#5b646d"  # names of faint lines
PAPER = "#ffffff"
LETTERS = "DejaVu Sans"
# in an SVG; if a reader lacks the font, Verdana is about as wide
FAMILY = f"font-family: '{LETTERS}', Verdana, sans-serif"
LINE = 1.2 * SMALLEST  # points from one line of text to the next
VIRTUAL_HATCH = "////"  # marks what was measured on virtual devices

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
    "axes.titley": 1.0,  # nothing above the axes needs the title's automatic placement
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.prop_cycle": cycler(color=COLOURS),
    "xtick.color": INK,
    "ytick.color": INK,
    "xtick.major.pad": 6,
    # no tick marks: the grid shows the positions
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
    """Yield a figure of `width` x `height` inches in the house style; write it to `path` on exit.

    The file is an SVG, or a PNG if the path says so. `room` is the part for axes: left, bottom,
    width and height, as shares of the figure.
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
        fig.set_layout_engine(None)  # with one, saving would draw everything again
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
    # a palette takes a third of the bytes, and no metadata are written
    Image.open(drawn).convert("RGB").quantize(128).save(small, "png", optimize=True)
    return small.getvalue()


def _settle_ticks(axes: Axes) -> None:
    """Fix both axes' ticks, so that they are the same in each language, however long its labels.

    Powers of ten are text, 0.01 or 10⁻⁸, since formulas render slowly. Minor ticks are off: they
    would be invisible, and cost as much time as everything visible.
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
    """Return the colour of text that names a line of `colour`."""
    known = dict(zip(COLOURS, TEXT_COLOURS, strict=True)) | {FAINT: FAINT_TEXT}
    return known.get(colour, colour)


def spread_labels(positions: list[float], gap: float, top: float) -> list[float]:
    """Return heights for labels: at least `gap` apart, in the order of `positions`, up to `top`.

    One pass pushes crowded labels up; a second pushes labels above the top down.
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
    """Write each line's name in its colour at its end, right of the axes, without overlaps.

    Args:
        axes: axes with final limits and scales.
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

    If its limits, which must be set before, are close, label more numbers.
    """
    low, high = axis.get_view_interval()
    subs = (1, 2, 5) if high > 8 * low else (1, 1.2, 1.5, 2, 2.5, 3, 4, 5, 6, 8)
    axis.set_major_locator(LogLocator(subs=subs))
    axis.set_major_formatter(FuncFormatter(_plainly))
    axis.set_minor_locator(NullLocator())


def _plainly(value: float, position: int) -> str:
    return f"{value:,g}" if 1e-3 <= value < 1e5 else number(value, 1)


def key(fig: Figure, axes: Axes, columns: int = 2) -> None:
    """Draw a legend of the labelled lines under the axes, with handles long enough for dashes."""
    fig.legend(
        *axes.get_legend_handles_labels(),
        loc="outside lower center",
        ncols=columns,
        frameon=False,
        handlelength=2.4,
    )


def say_virtual(fig: Figure) -> None:
    """Note under a figure of lines or dots that it shows virtual devices; bars are hatched."""
    swatch = Patch(facecolor="none", edgecolor=INK, hatch=VIRTUAL_HATCH, linewidth=0.8)
    fig.legend([swatch], [say("virtual devices")], loc="outside lower right", frameon=False)
