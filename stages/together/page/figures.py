"""The figures of the page on all techniques together: a staircase for each accuracy."""

from collections.abc import Sequence
from functools import partial
from pathlib import Path

from matplotlib.axes import Axes
from matplotlib.ticker import LogLocator

from lab.report import figures as style
from lab.report import plots
from lab.report.language import say
from lab.report.numbers import duration
from lab.report.page import Figure
from lab.results.documents import read_results
from stages.together.findings import targets_of
from stages.together.page.values import Row, staircase

ROOM = 0.9  # of the bars' width, for the times beside them


def figures(folder: Path) -> list[Figure]:
    """The figures of `folder` (reports/together)."""
    results = read_results(folder)
    first, *further = [
        partial(_draw, target, staircase(results, target)) for target in targets_of(results)
    ]
    return [Figure("together", [first]), *([Figure("further", further)] if further else [])]


def _draw(target: int, rows: Sequence[Row], path: Path) -> None:
    seconds = [row.seconds for row in rows]
    low = min(seconds) / 1.5
    high = max(seconds) * (max(seconds) / low) ** ROOM
    with style.figure(path, style.WIDTH, 0.9 + 0.36 * len(rows)) as fig:
        axes = fig.add_subplot()
        for at, row in enumerate(rows):
            _draw_stair(axes, at, seconds[max(0, at - 1)], row)
        plots.name_rows(axes, [plots.in_two_lines(row.label) for row in rows])
        axes.set(xscale="log", xlim=(low, high))
        axes.set_title(say("Seconds to {target}% test accuracy", target=target), x=0)
        plots.plain_axis(axes, "x")
        if high > 100 * low:  # ticks at the powers of ten alone, or their numbers would touch
            axes.xaxis.set_major_locator(LogLocator())


def _draw_stair(axes: Axes, at: int, before: float, row: Row) -> None:
    """Draw a bar from the seconds of the row above to its own; of the first a mark alone."""
    after = row.seconds
    colour = style.COLOURS[1 if after > before else 2] if at else style.FAINT
    axes.barh(
        at,
        abs(after - before) if at else 0,
        left=min(before, after),
        height=0.62,
        facecolor=colour,
        hatch=style.VIRTUAL_HATCH if row.virtual else None,
        edgecolor=style.PAPER,
    )
    axes.plot([after, after], [at - 0.31, at + 0.31], color=colour, linewidth=2.5)
    axes.annotate(
        _total(row), (max(before, after), at), (5, 0), textcoords="offset points", va="center"
    )
    axes.text(
        1,
        at,
        f"{row.epochs} × {duration(row.epoch_s)}",
        transform=axes.get_yaxis_transform(),
        ha="right",
        va="center",
        color=style.FAINT_TEXT,
    )


def _total(row: Row) -> str:
    text = duration(row.seconds)
    if not row.found.reached:
        text = f"≥ {text}"
    return f"≈ {text}" if row.found.extrapolated else text
