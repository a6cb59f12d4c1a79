"""What the page on all techniques together names beside findings: a row for each technique."""

from collections.abc import Mapping
from dataclasses import dataclass
from statistics import median

from lab.report.language import say, translation
from lab.report.numbers import number
from lab.results.findings import Finding, exact
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

OUTCOMES: dict[str, tuple[object, ...]] = {
    "speedup": (None, exact(3.0)),
    "split_from": (None, 4.0),
    "records": ({}, {90: exact(5.0)}),
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


def staircase(results: Results, target: int) -> list[Row]:
    """The rows that were measured, in order."""
    kinds = {m.variant: m.device_kind for m in results.measurements if m.variant in RUNGS}
    measured = ((rung, seconds_to(results, rung, target)) for rung in kinds)
    return [Row(rung, found, str(kinds[rung])) for rung, found in measured if found]


def values(results: Results, found: Mapping[str, Finding]) -> dict[str, object]:
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
        "seeds": int(results.conditions["seeds"]),
    }


def _after_one(results: Results, rung: str) -> float:
    """Test accuracy in percent after the first epoch, of several seeds the median."""
    first = [m for m in results.series("accuracy", rung) if m.x == 1]
    return median(value for m in first for value in m.values) if first else 0.0
