"""Two sets of findings: which numbers differ, and what a difference amounts to.

Both are derived from rows by the same findings.py, or one is another machine's, kept in a file. A
number is better or worse only if it decides something on both sides, and the interval of the
difference leaves out 0; one that starts decide, such as a time, also changed by over 2 %. A time or
a rate is judged relative to how fast the machine itself was, by the product and the copy that each
stage measures before and after: what these explain is the machine's, not the code's. Nothing is
judged across hardware, and no times of a busy machine.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import isnan
from typing import Any, NamedTuple

from lab.results.disturbances import SPEEDS, disturbances_of, readings
from lab.results.findings import Finding
from lab.results.stats import SMALLEST_EFFECT, difference_interval

AS_FAST = (1.0, 1.0)  # as before, at least and at most

BETTER, WORSE, CHANGED = "better", "worse", "changed"
WITHIN_NOISE, OF_MACHINE, OTHER_HARDWARE = "within noise", "the machine's", "other hardware"
BUSY, TOO_FEW, NEW, GONE = "busy machine", "too few samples", "new", "gone"
JUDGED, NO_CHANGE = (BETTER, WORSE), (WITHIN_NOISE, OF_MACHINE)


@dataclass(frozen=True)
class Taken:
    """A stage's findings, the conditions under which they were taken, and the machine's facts."""

    findings: Mapping[str, Finding]
    conditions: Mapping[str, Any] = field(default_factory=dict)
    machine: Mapping[str, Any] = field(default_factory=dict)


class Change(NamedTuple):
    """A finding that differs; None on the side that lacks it."""

    name: str
    old: Finding | None
    new: Finding | None
    mark: str

    @property
    def size(self) -> float:
        """The change relative to the larger side."""
        if self.old is None or self.new is None:
            return 0.0
        larger = max(abs(self.old.value), abs(self.new.value))
        return abs(self.new.value - self.old.value) / larger if larger else 0.0


def diff(old: Taken, new: Taken) -> list[Change]:
    """Each finding that differs, with what the change amounts to."""
    speed = speed_of(old.conditions, new.conditions)
    busy = any(map(disturbances_of, (old.conditions, new.conditions)))
    found = []
    for name in {**old.findings, **new.findings}:
        before, after = (side.findings.get(name) or None for side in (old, new))
        if before is None or after is None:
            if before or after:
                found.append(Change(name, before, after, GONE if before else NEW))
        elif (before.value, before.low, before.high) != (after.value, after.low, after.high):
            if old.machine != new.machine:
                mark = OTHER_HARDWARE
            else:
                mark = mark_of(before, after, speed)
                if busy and after.timed and mark not in (*NO_CHANGE, TOO_FEW):
                    mark = BUSY
            found.append(Change(name, before, after, mark))
    return found


def mark_of(old: Finding, new: Finding, speed: tuple[float, float] = AS_FAST) -> str:
    """What a change amounts to on one machine, which was so many times as fast on the new side."""
    if not (old.decides and new.decides):
        return TOO_FEW
    if not old.exact and _within_noise(old, new):
        return WITHIN_NOISE
    same_code = [old * factor for factor in _factors(old, speed)]
    low, high = (each.value for each in same_code)
    if not old.exact and (
        low <= new.value <= high or any(_within_noise(each, new) for each in same_code)
    ):
        return OF_MACHINE
    if not new.better:
        return CHANGED
    return BETTER if (new.value > high) == (new.better == "more") else WORSE


def agree(one: Finding | None, other: Finding | None) -> bool:
    """Whether two findings differ by no more than their intervals explain."""
    if one is None or other is None:
        return False
    if one.exact and other.exact:
        return one.value == other.value
    low, high = difference_interval(*[(e.value, e.low, e.high) for e in (one, other)])
    return low <= 0 <= high


def speed_of(old: Mapping[str, Any], new: Mapping[str, Any]) -> tuple[float, float]:
    """How many times as fast the machine was on the new side as on the old, at least and at most.

    By each reading of its speed: of computing and of copying, before and after a measurement.
    """
    factors = []
    for names in SPEEDS.values():
        before, after = readings(old, names), readings(new, names)
        if len(before) == len(after) == len(names):
            factors += [min(after) / max(before), max(after) / min(before)]
    return (min(factors), max(factors)) if factors else AS_FAST


def _factors(found: Finding, speed: tuple[float, float]) -> tuple[float, float]:
    """What the machine's speed does to a number, at least and at most."""
    slowest, fastest = speed
    if found.is_time:
        return 1 / fastest, 1 / slowest
    return (slowest, fastest) if found.is_rate else AS_FAST


def _within_noise(old: Finding, new: Finding) -> bool:
    """Whether 0 is in the interval of the difference, or a time's effect is too small to count."""
    too_small = old.timed and abs(new.value - old.value) <= SMALLEST_EFFECT * abs(old.value)
    return agree(old, new) or too_small


def in_a_cell(finding: Finding | None) -> str:
    """A finding with its interval, as a cell of a table."""
    if finding is None or isnan(finding.value):
        return "-"
    text, ends = f"{finding.value:.6g}", f" ({finding.low:.3g} to {finding.high:.3g})"
    return text if finding.low == finding.high else text + ends
