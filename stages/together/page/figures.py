"""The figures and tables of the page on all techniques together: a staircase for each accuracy."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from statistics import median

from matplotlib.axes import Axes
from matplotlib.ticker import LogLocator

from lab.report import figures as style
from lab.report import plots
from lab.report.language import say, translation
from lab.report.numbers import duration, number
from lab.report.page import Figure
from lab.results.findings import Finding, Findings
from lab.results.measurements import Results
from stages.together.findings import fastest, records, targets_of
from stages.together.measure.time_to_accuracy import (
    BF16,
    HE,
    MOMENTUM,
    NOTES_WAY,
    ONE_CYCLE,
    RUNGS,
    SAME_STEPS,
    SecondsTo,
    seconds_to,
    target_of,
)

BATCH, SPLIT = RUNGS[-2:]
WHERE = {  # the page that explains a change
    NOTES_WAY: "bench_training",
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
class Row:
    """A row of the staircase: the one above with one more change."""

    rung: str
    found: SecondsTo
    kind: str  # of its devices

    @property
    def label(self) -> str:
        """What it changes, in words."""
        if self.rung != SPLIT:
            return translation(self.rung)
        halves = {
            "cpu-virtual": say("split over two CPU halves"),
            "cuda-shared": say("split in two on one GPU"),
        }
        return halves.get(self.kind, say("split over two GPUs"))

    @property
    def virtual(self) -> bool:
        """Whether shares of a processor stand in for its devices."""
        return self.kind == "cpu-virtual"

    @property
    def mark(self) -> str:
        """Before its seconds: `≥` if it ended below the accuracy, `≈` if extrapolated."""
        return ("" if self.found.reached else "≥ ") + ("≈ " if self.found.extrapolated else "")

    @property
    def accuracy(self) -> str:
        """On the test images in the end, in words; a dash where it was not trained whole."""
        found = self.found.accuracy
        return "–" if found is None else f"{number(found, 3)}%"

    @property
    def where(self) -> str:
        """The stage whose page explains it."""
        return WHERE[self.rung]

    @property
    def seconds(self) -> float:
        """Until the accuracy, or until training ended; of several seeds the median."""
        return self.found.median

    @property
    def epochs(self) -> int:
        """The same in epochs."""
        return round(median(self.found.epochs))

    @property
    def epoch_s(self) -> float:
        """Seconds of an epoch."""
        found = self.found
        return median(s / n for s, n in zip(found.seconds, found.epochs, strict=True))


ROOM = 0.9  # of the bars' width, for the times beside them


def values(results: Results, found: Findings) -> dict[str, object]:
    target, *further = targets_of(results)
    rows = staircase(results, target)
    first, last, of = rows[0], rows[-1], {row.rung: row for row in rows}
    start = [row for row in rows if row.rung in SAME_STEPS][-1]
    alike = [row.epoch_s for row in rows if row.rung in (start.rung, HE, MOMENTUM, ONE_CYCLE)]
    return {
        "target": target,
        "further": {each: staircase(results, each) for each in further},
        "rows": rows,
        "speedup": found.get(f"speedup_to_{target}"),
        "best": of.get(fastest({r.rung: r.found for r in rows if r.found.reached}) or "", last),
        "first": first,
        "last": last,
        "start": start,
        "after_one": _after_one(results, start.rung),
        "after_one_he": _after_one(results, HE),
        "split_from": of[BATCH].epoch_s if BATCH in of and last.rung == SPLIT else None,
        "alike": Finding(median(alike), min(alike), max(alike)),
        "records": {target_of(run): found[f"{run}_s"] for run in records(results)},
    }


def figures(results: Results, found: Findings) -> list[Figure]:
    first, *further = [
        partial(_draw, target, staircase(results, target)) for target in targets_of(results)
    ]
    return [Figure("together", [first]), *([Figure("further", further)] if further else [])]


def staircase(results: Results, target: int) -> list[Row]:
    """The rows that were measured, in order."""
    kinds = {m.variant: m.device_kind for m in results.measurements if m.variant in RUNGS}
    measured = ((rung, seconds_to(results, rung, target)) for rung in kinds)
    return [Row(rung, found, str(kinds[rung])) for rung, found in measured if found]


def _after_one(results: Results, rung: str) -> float:
    """Test accuracy in percent after the first epoch, of several seeds the median."""
    first = [m for m in results.series("accuracy", rung) if m.x == 1]
    return median(value for m in first for value in m.values) if first else 0.0


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
