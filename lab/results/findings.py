"""Findings: numbers derived from a stage's rows, each with its interval.

A stage's findings.py derives each of them once. A claim names a finding and the range that it must
lie in. Texts and metrics.json name findings, and two sets of results are compared by them.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from math import isfinite
from typing import Literal

from lab.results.reasons import BROKEN, UNUSABLE, Reason
from lab.results.stats import (
    ANY,
    CONFIDENCE,
    POSITIVE,
    SMALLEST_EFFECT,
    Range,
    median_interval,
    median_level,
    summarise,
)

AS_FAST, AS_LONG = "times as fast", "times as long"
POINTS = "points"
TIMES = ("s", "ms", "µs", "ns")

Better = Literal["more", "less", ""]


class Over(StrEnum):
    """The variation between an interval's samples, which is all that the interval covers."""

    STARTS = "starts"  # fresh processes, run sequentially
    SEEDS = "seeds"  # of weights, image orders, or random problems
    CASES = "cases"  # networks, batch sizes, layers


@dataclass(frozen=True)
class Finding:
    """A number with its interval; false if it is missing.

    Attributes:
        value: the number.
        low: the interval's lower end; equal to `value` if the number is exact.
        high: the interval's upper end.
        n: number of samples; 0 if the number is exact (counted, or computed identically each time).
        over: what the samples vary over; None if the number is exact.
        unit: unit of the number.
        better: whether more or less of it is better.
        device_kinds: device kinds of the rows that the number is derived from.
        missing: why there is no number.
    """

    value: float
    low: float
    high: float
    n: int = 0
    over: Over | None = None
    unit: str = ""
    better: Better = ""
    device_kinds: frozenset[str] = frozenset()
    missing: Reason | None = None

    def __bool__(self) -> bool:
        return self.missing is None

    @property
    def exact(self) -> bool:
        """Whether the number does not vary, and so has no interval."""
        return self.over is None

    @property
    def level(self) -> float:
        """The chance with which the interval holds the true median; 1 for an exact number."""
        return 1.0 if self.exact else median_level(self.n)

    @property
    def timed(self) -> bool:
        """Whether the number is a time or derived from times.

        Counts and bitwise comparisons are exact, and a seed gives the same result in every process.
        So only times vary between processes. Cases are compared by their times.
        """
        return self.over in (Over.STARTS, Over.CASES)

    @property
    def is_time(self) -> bool:
        """Whether the number is inversely proportional to the machine's speed."""
        return self.unit in TIMES

    @property
    def is_rate(self) -> bool:
        """Whether the number is proportional to the machine's speed."""
        return self.unit.endswith("/s")

    @property
    def decides(self) -> bool:
        """Whether a verdict may rest on this finding."""
        return self.level >= CONFIDENCE

    @property
    def verdict(self) -> Literal["faster", "slower", "inconclusive"]:
        """The verdict of a ratio; inconclusive if its interval is weak or comes near 1."""
        if self.decides and self.low > 1 + SMALLEST_EFFECT:
            return "faster"
        slower = self.decides and self.high < 1 / (1 + SMALLEST_EFFECT)
        return "slower" if slower else "inconclusive"

    def consistent(self) -> bool:
        """Return whether the numbers are finite, and the interval holds the value."""
        return (
            (self.n == 0) == self.exact
            and all(map(isfinite, (self.value, self.low, self.high)))
            and self.low <= self.value <= self.high
            and (not self.exact or self.low == self.high)
        )

    def __mul__(self, factor: float) -> "Finding":
        """Convert to a unit that is `factor` times smaller; the caller renames the unit."""
        low, high = sorted((self.low * factor, self.high * factor))
        return replace(self, value=self.value * factor, low=low, high=high)


Findings = Mapping[str, Finding]  # by name


@dataclass(frozen=True)
class Samples:
    """A variant's samples, or why there are none.

    Arithmetic is sample by sample, since samples of one process or one seed belong together. The
    result is missing if an operand is.
    """

    values: tuple[float, ...] = ()
    device_kinds: frozenset[str] = frozenset()
    missing: Reason | None = None

    def __bool__(self) -> bool:
        return self.missing is None

    def __truediv__(self, other: "Samples") -> "Samples":
        return combine(lambda a, b: a / b, self, other)

    def __add__(self, other: "Samples") -> "Samples":
        return combine(lambda a, b: a + b, self, other)

    def __sub__(self, other: "Samples") -> "Samples":
        return combine(lambda a, b: a - b, self, other)

    def __mul__(self, factor: float) -> "Samples":
        return combine(lambda a: a * factor, self)


def combine(function: Callable[..., float], *samples: Samples) -> Samples:
    """Apply a function to the first sample of each, to the second of each, and so on."""
    kinds = frozenset().union(*(each.device_kinds for each in samples))
    for each in samples:
        if each.missing:
            return Samples((), kinds, each.missing)
    if len({len(each.values) for each in samples}) > 1:
        counts = " and ".join(str(len(each.values)) for each in samples)
        return Samples((), kinds, Reason(UNUSABLE, f"{counts} samples do not belong together"))
    try:
        found = tuple(map(function, *(each.values for each in samples)))
    except ZeroDivisionError:
        return Samples((), kinds, Reason(UNUSABLE, "a sample is 0, and another is divided by it"))
    return Samples(found, kinds)


def median(
    samples: Samples,
    unit: str = "",
    over: Over = Over.STARTS,
    possible: Range = POSITIVE,
    better: Better = "",
) -> Finding:
    """Return the median with its interval, of a quantity that can only have `possible` values."""
    if samples.missing or not all(map(isfinite, samples.values)):
        why = samples.missing or Reason(UNUSABLE, "a sample is no finite number")
        return missing(why, unit, samples)
    low, high = median_interval(samples.values, possible)
    middle, n = summarise(samples.values).median, len(samples.values)
    return Finding(middle, low, high, n, over, unit, better, samples.device_kinds)


def ratio(
    old: Samples,
    new: Samples,
    unit: str = AS_FAST,
    over: Over = Over.STARTS,
    better: Better | None = None,
) -> Finding:
    """Return the median of old[i] / new[i]: for times, how many times as fast `new` is."""
    if better is None:
        better = "more" if unit == AS_FAST else ""
    found = median(old / new, unit, over, POSITIVE, better)
    times = all(isfinite(value) and value > 0 for each in (old, new) for value in each.values)
    if times or not found:
        return found
    return missing(Reason(UNUSABLE, "a time is not positive"), unit, old)


def difference(
    one: Samples, other: Samples, unit: str, over: Over = Over.SEEDS, better: Better = ""
) -> Finding:
    """Return the median of one[i] - other[i]."""
    return median(one - other, unit, over, ANY, better)


def share_of_cases(found: Sequence[Finding], holds: Range) -> Finding:
    """Return the percentage of cases in `holds`: by median (value), surely (low), maybe (high)."""
    for each in found:
        if each.missing:
            return each

    def percent(lies: Callable[[Finding], bool]) -> float:
        return 100 * sum(map(lies, found)) / len(found)

    return Finding(
        percent(lambda f: holds.low <= f.value <= holds.high),
        percent(lambda f: holds.low <= f.low and f.high <= holds.high),
        percent(lambda f: f.low <= holds.high and holds.low <= f.high),
        min(f.n for f in found),
        Over.STARTS,
        f"% of {len(found)} cases",
        device_kinds=frozenset().union(*(f.device_kinds for f in found)),
    )


def exact(number: Samples | float, unit: str = "", better: Better = "") -> Finding:
    """Return a finding that does not vary: `number`, or its only sample."""
    if isinstance(number, Samples):
        if number.missing:
            return missing(number.missing, unit, number)
        if len(number.values) != 1:
            why = f"{len(number.values)} samples, where one is expected"
            return missing(Reason(UNUSABLE, why), unit, number)
        [value], kinds = number.values, number.device_kinds
    else:
        value, kinds = float(number), frozenset()
    if not isfinite(value):
        return missing(Reason(UNUSABLE, "no finite number"), unit)
    return Finding(value, value, value, 0, None, unit, better, kinds)


def of_one_run(value: float, unit: str, better: Better = "", over: Over = Over.STARTS) -> Finding:
    """Return a number of this run only, which decides nothing: the next run's will differ."""
    if not isfinite(value):
        return missing(Reason(UNUSABLE, "no finite number"), unit)
    return Finding(value, value, value, 1, over, unit, better)


def possible(found: Finding, values: Range) -> Finding:
    """Return the finding, or a missing one if its whole interval is impossible: it is broken."""
    if found and (found.high < values.low or found.low > values.high):
        why = Reason(BROKEN, f"{found.value:.3g}")
        return replace(missing(why, found.unit), device_kinds=found.device_kinds)
    return found


def missing(why: Reason, unit: str = "", samples: Samples | None = None) -> Finding:
    """Return a finding that has a reason instead of a number."""
    nan = float("nan")
    kinds = samples.device_kinds if samples else frozenset()
    return Finding(nan, nan, nan, unit=unit, device_kinds=kinds, missing=why)
