"""Figures and tables of the page on all techniques together: one staircase per accuracy."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import groupby
from pathlib import Path
from statistics import median

from matplotlib.axes import Axes
from matplotlib.transforms import Transform

from lab.report import figures as style
from lab.report import plots
from lab.report.benchmarks import net_title
from lab.report.language import say, translation
from lab.report.numbers import duration, number
from lab.report.page import Figure
from lab.results.findings import Finding, Findings
from lab.results.measurements import Results
from stages.together.findings import records, targets_of
from stages.together.measure.names import (
    BASELINE,
    BF16,
    HE,
    MOMENTUM,
    ONE_CYCLE,
    SAME_STEPS,
    TECHNIQUES,
)
from stages.together.measure.time_to_accuracy import (
    NOTES_RUN,
    SecondsTo,
    fastest,
    seconds_to,
    target_of,
)

BATCH, SPLIT = [*TECHNIQUES][-2:]
TAKE_HOME = ONE_CYCLE  # the recipe of lenet_83.py
WHERE = {  # the page that explains each technique
    BASELINE: "bench_training",
    "data set in memory": "bench_input",
    "skip pixels LeNet never uses": "bench_training",
    "channels-last layout": "bench_training",
    "reuse freed memory": "bench_training",
    BF16: "bench_training",
    HE: "schedules",
    MOMENTUM: "optimizers",
    ONE_CYCLE: "schedules",
    BATCH: "convergence",
    SPLIT: "replicas",
}


@dataclass(frozen=True)
class TechniqueRow:
    """A row of the staircase: adds one technique to the row above."""

    technique: str
    found: SecondsTo
    kind: str  # of the devices

    @property
    def label(self) -> str:
        """The technique in words."""
        if self.technique != SPLIT:
            return translation(self.technique)
        halves = {
            "cpu-virtual": say("split over two CPU halves"),
            "cuda-shared": say("split in two on one GPU"),
        }
        return halves.get(self.kind, say("split over two GPUs"))

    @property
    def virtual(self) -> bool:
        """True if shares of a CPU stand in for the devices."""
        return self.kind == "cpu-virtual"

    @property
    def mark(self) -> str:
        """The prefix of the seconds: `≥` if the accuracy was not reached, `≈` if extrapolated."""
        return ("" if self.found.reached else "≥ ") + ("≈ " if self.found.extrapolated else "")

    @property
    def accuracy(self) -> str:
        """The final test accuracy as text; a dash if only a part of an epoch was timed."""
        found = self.found.accuracy
        return "–" if found is None else f"{number(found, 3)}%"

    @property
    def where(self) -> str:
        """The stage with the page that explains the technique."""
        return WHERE[self.technique]

    @property
    def seconds(self) -> float:
        """Seconds to the accuracy, or to the end of training; the median over seeds."""
        return self.found.median

    @property
    def epochs(self) -> int:
        """Epochs in these seconds, the median over seeds."""
        return round(median(self.found.epochs))

    @property
    def epoch_s(self) -> float:
        """Seconds per epoch."""
        found = self.found
        return median(s / n for s, n in zip(found.seconds, found.epochs, strict=True))


FASTER, FEWER, NO_GAIN, MISSED = "faster epochs", "fewer epochs", "no gain here", "not reached"
COLOURS = {
    FASTER: style.COLOURS[0],
    FEWER: style.COLOURS[2],
    NO_GAIN: style.FAINT,
    MISSED: style.FAINT,
}
ROOM = 0.36  # for the times left of the bars, relative to the bars
HEADING = 0.75  # height of a heading, in rows


def values(results: Results, found: Findings) -> dict[str, object]:
    target, *further = targets_of(results)
    rows, later = staircase(results, target), {each: staircase(results, each) for each in further}
    first, last, of = rows[0], rows[-1], {row.technique: row for row in rows}
    start = [row for row in rows if row.technique in SAME_STEPS][-1]
    alike = [
        row.epoch_s for row in rows if row.technique in (start.technique, HE, MOMENTUM, ONE_CYCLE)
    ]
    best = best_of(rows)
    return {
        "target": target,
        "further": later,
        "rows": rows,
        "missed": any(not row.found.reached for each in (rows, *later.values()) for row in each),
        "speedup": found.get(f"speedup_to_{target}"),
        "best": best,
        "best_s": found.get(f"best_to_{target}_s"),
        "below": sum(percent < target for percent in best.found.accuracies),
        "by_faster_epochs": first.epoch_s / best.epoch_s,
        "by_fewer_epochs": first.epochs / best.epochs,
        "take_home": translation(TAKE_HOME),
        "first": first,
        "last": last,
        "start": start,
        "after_one": _after_one(
            results, NOTES_RUN if start.found.extrapolated else start.technique
        ),
        "after_one_he": _after_one(results, HE),
        "split_from": of[BATCH].epoch_s if BATCH in of and last.technique == SPLIT else None,
        "alike": Finding(median(alike), min(alike), max(alike)),
        "records": {target_of(run): found[f"{run}_s"] for run in records(results)},
        "nets": {
            target_of(run): net_title(str(results.series("seconds", run)[0].columns["net"]))
            for run in records(results)
        },
    }


def figures(results: Results, found: Findings) -> list[Figure]:
    (target, rows), *further = [(each, staircase(results, each)) for each in targets_of(results)]
    together = Figure("together", [partial(_draw, target, rows)], partial(_draw_card, target, rows))
    later = [partial(_draw, *each) for each in further]
    return [together, *([Figure("further", later)] if later else [])]


def staircase(results: Results, target: int) -> list[TechniqueRow]:
    """Return the rows that were measured, in order."""
    kinds = {m.variant: m.device_kind for m in results.measurements if m.variant in TECHNIQUES}
    measured = ((technique, seconds_to(results, technique, target)) for technique in kinds)
    return [
        TechniqueRow(technique, found, str(kinds[technique]))
        for technique, found in measured
        if found
    ]


def _after_one(results: Results, technique: str) -> float:
    """Return the test accuracy in percent after the first epoch, the median over seeds."""
    first = [m for m in results.series("accuracy", technique) if m.x == 1]
    return median(value for m in first for value in m.values) if first else 0.0


def best_of(rows: Sequence[TechniqueRow]) -> TechniqueRow:
    """Return the fastest row that reached the accuracy, or the last row if none did."""
    best = fastest({row.technique: row.found for row in rows if row.found.reached})
    return next((row for row in rows if row.technique == best), rows[-1])


def gain_of(above: TechniqueRow, row: TechniqueRow) -> str:
    """Return how a row gains on a row above it."""
    if not row.found.reached:
        return MISSED
    if row.seconds >= above.seconds:
        return NO_GAIN
    return FEWER if row.epochs < above.epochs else FASTER


def groups_of(
    rows: Sequence[TechniqueRow],
) -> list[tuple[str, list[tuple[TechniqueRow, TechniqueRow]]]]:
    """Pair each row but the first with the fastest row above it that reached the accuracy.

    Consecutive pairs with the same gain form a group.
    """
    steps, above = [], rows[0]
    for row in rows[1:]:
        steps.append((above, row))
        if row.found.reached and row.seconds < above.seconds:
            above = row
    return [(gain, list(of)) for gain, of in groupby(steps, lambda two: gain_of(*two))]


def _draw(target: int, rows: Sequence[TechniqueRow], path: Path) -> None:
    lines = len(rows) + HEADING * len(groups_of(rows))
    with style.figure(path, style.WIDTH, 1 + 0.34 * lines) as fig:
        _draw_stairs(fig.add_subplot(), target, rows, plots.in_two_lines)


def _draw_card(target: int, rows: Sequence[TechniqueRow], title: str, path: Path) -> None:
    """Draw the rows down to the fastest one, under the figure's title."""
    with style.figure(path, *style.CARD, room=(0.02, 0.01, 0.96, 0.84)) as fig:
        lines = title.replace(": ", ":\n")
        fig.text(0.02, 0.96, lines, va="top", fontsize=14, fontweight="bold")
        name = "d2l-lab: Dive into Deep Learning, measured"
        fig.text(0.02, 0.03, name, color=style.FAINT_TEXT)
        _draw_stairs(fig.add_subplot(), target, rows[: rows.index(best_of(rows)) + 1], str)


def _draw_stairs(
    axes: Axes, target: int, rows: Sequence[TechniqueRow], named: Callable[[str], str]
) -> None:
    """Draw the rows top to bottom, each group under a heading that names its gain."""
    seconds = [row.seconds for row in rows]
    low, high = min(seconds), 1.02 * max(seconds)
    axes.set(xscale="log", xlim=(low * (low / high) ** ROOM, high))
    axes.set_xlabel(say("Time to {target}% test accuracy (s)", target=target))
    plots.plain_axis(axes, "x")
    _write_beside(axes, axes.transAxes, 1, say("epochs\n× time"), va="bottom")
    _draw_row(axes, 0, rows[0], rows[0], style.INK)
    plots.name_row(axes, 0, named(rows[0].label))
    at = 0.0
    for gain, steps in groups_of(rows):
        at += HEADING
        _draw_heading(axes, at, len(steps), gain)
        for above, row in steps:
            at += 1
            _draw_row(axes, at, above, row, COLOURS[gain])
            plots.name_row(axes, at, named(row.label))
    axes.set_yticks([])
    axes.spines.left.set_visible(False)
    axes.set_ylim(at + 0.6, -0.6)


def _draw_heading(axes: Axes, at: float, num_rows: int, gain: str) -> None:
    """Name a group above its rows, and mark the rows with a line left of the bars."""
    colour, across = COLOURS[gain], axes.get_yaxis_transform()
    words = {"color": style.text_colour(colour), "fontweight": "bold"}
    plots.name_row(axes, at + 0.2, translation(gain), **words)
    ends = [at + 0.6, at + num_rows + 0.4]
    axes.plot([0, 0], ends, color=colour, linewidth=4, transform=across, clip_on=False)


def _draw_row(axes: Axes, at: float, above: TechniqueRow, row: TechniqueRow, colour: str) -> None:
    """Draw a bar from the seconds of a row above to the row's own, and mark the latter."""
    left, right = sorted((above.seconds, row.seconds))
    axes.barh(
        at,
        right - left,
        left=left,
        height=0.62,
        facecolor=colour,
        hatch=style.VIRTUAL_HATCH if row.virtual else None,
        edgecolor=style.PAPER,
    )
    axes.plot([row.seconds] * 2, [at - 0.31, at + 0.31], color=colour, linewidth=2.5)
    axes.annotate(
        row.mark + duration(row.seconds),
        (left, at),
        (-5, 0),
        textcoords="offset points",
        ha="right",
        va="center",
    )
    _write_beside(axes, axes.get_yaxis_transform(), at, f"{row.epochs} × {duration(row.epoch_s)}")


def _write_beside(axes: Axes, places: Transform, at: float, text: str, va: str = "center") -> None:
    """Write into the column right of the bars."""
    axes.annotate(
        text,
        (1, at),
        (8, 0),
        xycoords=places,
        textcoords="offset points",
        va=va,
        color=style.FAINT_TEXT,
    )
