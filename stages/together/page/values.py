"""What the page on all techniques together names beside findings: a row for each technique."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import median

from lab.report.language import say, translation
from lab.results.findings import Finding
from lab.results.measurements import Results
from stages.together.findings import records, targets_of
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

OUTCOMES = {
    "reached": ("both", "all", "neither"),
    "extrapolated": (True, False),
    "engineered": ("faster", "slower", "unclear"),
    "learned": (True, False),
    "one_cycle_short": (True, False),
    "at_chance": (True, False),
    "split": ("slower", "faster", "unclear", "none"),
    "on_gpus": (True, False),
    "synthetic": (True, False),
}
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
CHANCE = 12.0  # percent: of ten classes, and little more


@dataclass(frozen=True)
class Row:
    """A row of the staircase: the one above with one more change."""

    rung: str
    found: SecondsTo
    virtual: bool

    @property
    def label(self) -> str:
        """What it changes, in words."""
        if self.rung == SPLIT:
            return say("split over two CPU halves") if self.virtual else say("split over two GPUs")
        return translation(self.rung)

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


def staircase(results: Results, target: int) -> list[Row]:
    """The rows that were measured, in order."""
    kinds = {m.variant: m.device_kind for m in results.measurements if m.variant in RUNGS}
    measured = ((rung, seconds_to(results, rung, target)) for rung in kinds)
    return [Row(rung, found, kinds[rung] == "cpu-virtual") for rung, found in measured if found]


def values(results: Results, found: Mapping[str, Finding]) -> dict[str, object]:
    target, *further = targets_of(results)
    rows = staircase(results, target)
    first, last, of = rows[0], rows[-1], {row.rung: row for row in rows}
    start = [row for row in rows if row.rung in SAME_STEPS][-1]
    learning = [row for row in rows if row.rung in (start.rung, HE, MOMENTUM, BATCH)]
    alike = [row.epoch_s for row in rows if row.rung in (start.rung, HE, MOMENTUM, ONE_CYCLE)]
    spread = max(alike) / min(alike)
    before, split = of.get(BATCH, last), of.get(SPLIT)
    return {
        "target": target,
        "further": {each: staircase(results, each) for each in further},
        "rows": rows,
        "reached": _reached(first, last),
        "extrapolated": first.found.extrapolated,
        "speedup": found.get(f"speedup_to_{target}"),
        "first": first,
        "last": last,
        "start": start,
        "engineered": _verdict(first, start, spread),
        "learned": len(learning) == 4 and _fewer(learning),
        "epochs": {row.rung: row.epochs for row in learning},
        "one_cycle": of.get(ONE_CYCLE),
        "one_cycle_short": ONE_CYCLE in of and not of[ONE_CYCLE].found.reached,
        "after_one": _after_one(results, start.rung),
        "after_one_he": _after_one(results, HE),
        "at_chance": _after_one(results, start.rung) < CHANCE < _after_one(results, HE),
        "before": before,
        "split": _verdict(before, split, spread) if split else "none",
        "on_gpus": not str(results.series("seconds", start.rung)[0].device_kind).startswith("cpu"),
        "alike": Finding(median(alike), min(alike), max(alike)),
        "records": {target_of(run): found[f"{run}_s"] for run in records(results)},
        "seeds": int(results.conditions["seeds"]),
        "synthetic": results.conditions["dataset"] != "fashion-mnist",
    }


def _reached(first: Row, last: Row) -> str:
    if not last.found.reached:
        return "neither"
    return "both" if first.found.reached else "all"


def _fewer(rows: Sequence[Row]) -> bool:
    """Whether all reach the accuracy, none in more epochs than the one before."""
    epochs = [row.epochs for row in rows]
    return all(row.found.reached for row in rows) and epochs == sorted(epochs, reverse=True)


def _verdict(before: Row, after: Row, spread: float) -> str:
    """What changes do to an epoch: `unclear` where epochs of equal work differ as much."""
    ratio = before.epoch_s / after.epoch_s
    if 1 / spread <= ratio <= spread:
        return "unclear"
    return "faster" if ratio > 1 else "slower"


def _after_one(results: Results, rung: str) -> float:
    """Test accuracy in percent after the first epoch, of several seeds the median."""
    first = [m for m in results.series("accuracy", rung) if m.x == 1]
    return median(value for m in first for value in m.values) if first else 0.0
