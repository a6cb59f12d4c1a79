"""The numbers that differ between two sets of findings, and what each difference means.

Both sets come from rows through the same findings.py, or one is a different machine's, kept in a
file. A number is better or worse only if it decides something on both sides and the interval of the
difference excludes 0. A number measured over processes, such as a time, must also change by over
2 %. Each stage times a matrix product and a copy before and after it measures. What their speeds
explain of a time or a rate is the machine's doing, not the code's. Nothing is judged across
hardware, and times of a busy machine are not judged.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import isnan
from typing import Any, NamedTuple

from lab.results.disturbances import SPEEDS, disturbances_of, readings
from lab.results.findings import Finding
from lab.results.stats import SMALLEST_EFFECT, difference_interval

AS_FAST = (1.0, 1.0)  # as before: smallest and largest factor

BETTER, WORSE, CHANGED = "better", "worse", "changed"
WITHIN_NOISE, OF_MACHINE, OTHER_HARDWARE = "within noise", "the machine's", "other hardware"
BUSY, TOO_FEW, NEW, GONE = "busy machine", "too few samples", "new", "gone"
JUDGED, NO_CHANGE = (BETTER, WORSE), (WITHIN_NOISE, OF_MACHINE)


@dataclass(frozen=True)
class Taken:
    """A stage's findings, the conditions of its measurement, and the machine's facts."""

    findings: Mapping[str, Finding]
    conditions: Mapping[str, Any] = field(default_factory=dict)
    machine: Mapping[str, Any] = field(default_factory=dict)


class Change(NamedTuple):
    """A finding that differs; a side that lacks it is None."""

    name: str
    old: Finding | None
    new: Finding | None
    mark: str

    @property
    def size(self) -> float:
        """Return the change relative to the larger side."""
        if self.old is None or self.new is None:
            return 0.0
        larger = max(abs(self.old.value), abs(self.new.value))
        return abs(self.new.value - self.old.value) / larger if larger else 0.0


def diff(old: Taken, new: Taken) -> list[Change]:
    """Return each finding that differs, with the mark of its change."""
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
    """Return a change's mark on one machine, whose speed changed by the factors `speed`."""
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
    """Return whether two findings differ by no more than their intervals explain."""
    if one is None or other is None:
        return False
    if one.exact and other.exact:
        return one.value == other.value
    low, high = difference_interval(*[(e.value, e.low, e.high) for e in (one, other)])
    return low <= 0 <= high


def speed_of(old: Mapping[str, Any], new: Mapping[str, Any]) -> tuple[float, float]:
    """Return the smallest and largest factor by which the machine was faster on the new side.

    The factors compare all readings of its computing and copying speeds.
    """
    factors = []
    for names in SPEEDS.values():
        before, after = readings(old, names), readings(new, names)
        if len(before) == len(after) == len(names):
            factors += [min(after) / max(before), max(after) / min(before)]
    return (min(factors), max(factors)) if factors else AS_FAST


def _factors(found: Finding, speed: tuple[float, float]) -> tuple[float, float]:
    """Return the smallest and largest factor by which the machine's speed changes a number."""
    slowest, fastest = speed
    if found.is_time:
        return 1 / fastest, 1 / slowest
    return (slowest, fastest) if found.is_rate else AS_FAST


def _within_noise(old: Finding, new: Finding) -> bool:
    """Return whether the difference's interval holds 0, or a time's change is too small."""
    too_small = old.timed and abs(new.value - old.value) <= SMALLEST_EFFECT * abs(old.value)
    return agree(old, new) or too_small


def in_a_cell(finding: Finding | None) -> str:
    """Format a finding with its interval as a table cell."""
    if finding is None or isnan(finding.value):
        return "-"
    text, ends = f"{finding.value:.6g}", f" ({finding.low:.3g} to {finding.high:.3g})"
    return text if finding.low == finding.high else text + ends
