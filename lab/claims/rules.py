"""How a claim is decided: one number with its interval against the range its words ask for."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum

from lab.claims.evidence import Column, Metric, Read
from lab.results.stats import SMALLEST_EFFECT, median_ratio
from lab.results.stats import speedup as paired_speedup


class Verdict(StrEnum):
    """What a machine can say of a claim."""

    CONFIRMED = "confirmed"
    REFUTED = "refuted"
    INCONCLUSIVE = "inconclusive"
    NOT_TESTABLE = "not testable here"


@dataclass(frozen=True)
class Estimate:
    """A number with its interval; without one, `low` and `high` are the value itself."""

    value: float
    low: float
    high: float

    @property
    def exact(self) -> bool:
        """Whether there is no interval."""
        return self.low == self.high

    def consistent(self) -> bool:
        """Whether the numbers are finite and the interval holds the value."""
        return (
            all(map(math.isfinite, (self.value, self.low, self.high)))
            and self.low <= self.value <= self.high
        )


@dataclass(frozen=True)
class Range:
    """The numbers for which a claim holds, both ends included."""

    low: float = -math.inf
    high: float = math.inf

    @property
    def template(self) -> str:
        """The range in words, `low` and `high` to be filled in: a message that catalogues have."""
        if math.isinf(self.high):
            return "at least {low:g}"
        if math.isinf(self.low):
            return "at most {high:g}"
        return "exactly {low:g}" if self.low == self.high else "{low:.4g} to {high:.4g}"

    def __str__(self) -> str:
        """The range in English words."""
        return self.template.format(low=self.low, high=self.high)


def at_least(low: float) -> Range:
    """The range from `low` up."""
    return Range(low=low)


def at_most(high: float) -> Range:
    """The range up to `high`."""
    return Range(high=high)


def near(target: float, tolerance: float) -> Range:
    """The range around a target."""
    return Range(target - tolerance, target + tolerance)


# of a speed-up: what lies within 2 % of 1 is none, however sure
FASTER = at_least(1 + SMALLEST_EFFECT)


def decide(estimate: Estimate, holds: Range) -> Verdict:
    """The verdict of an interval on a range: within, outside, or across one of its ends."""
    if holds.low <= estimate.low and estimate.high <= holds.high:
        return Verdict.CONFIRMED
    if estimate.high < holds.low or estimate.low > holds.high:
        return Verdict.REFUTED
    return Verdict.INCONCLUSIVE


@dataclass(frozen=True)
class Rule:
    """How a claim is decided.

    `estimate` gets what `reads` names, in that order: a float for a metric, a tuple of floats for a
    column. It returns the number with its interval in `unit`, and raises NotTestableError where the
    numbers do not answer the question.
    """

    reads: Sequence[Read]
    estimate: Callable[..., Estimate]
    holds: Range
    unit: str


# --- the common shapes ---

AS_FAST, AS_LONG = "x as fast", "x as long"
POINTS = "points"
NOTES_BATCH = 256  # images


def value(metric: Metric, holds: Range, unit: str) -> Rule:
    """The rule of one number without an interval: deterministic, or one run."""
    return Rule([metric], point, holds, unit)


def ratio(folder: str, name: str, holds: Range, unit: str = AS_FAST) -> Rule:
    """The rule of a ratio that the stage wrote with the two ends of its 99 % interval."""
    return Rule(
        [Metric(folder, f"{name}{end}") for end in ("", "_low", "_high")], Estimate, holds, unit
    )


def samples(column: Column, holds: Range, unit: str) -> Rule:
    """The rule of the median of samples, with the sign test's 99 % interval."""
    return Rule([column], median, holds, unit)


def speedup(old: Column, new: Column, holds: Range, unit: str = AS_FAST) -> Rule:
    """The rule of old / new, paired in the rows' order, with the sign test's 99 % interval."""
    return Rule([old, new], times_ratio, holds, unit)


def point(number: float) -> Estimate:
    """A number without an interval."""
    return Estimate(number, number, number)


def median(numbers: Sequence[float]) -> Estimate:
    """The median with the sign test's interval, of any numbers."""
    found = median_ratio(numbers)
    return Estimate(found.median, found.low, found.high)


def times_ratio(old: Sequence[float], new: Sequence[float]) -> Estimate:
    """The median of old[i] / new[i] with the sign test's interval; ValueError for no times."""
    found = paired_speedup(old, new)
    return Estimate(found.median, found.low, found.high)


def band_ratio(
    median: float, low: float, high: float, other_median: float, other_low: float, other_high: float
) -> Estimate:
    """The ratio of two medians, from the bands of the middle halves of the seeds.

    The middle half of 20 seeds holds their median with 99 % confidence (sign test), so the
    interval, one band's low end over the other's high end and the reverse, errs on the side of
    `inconclusive`.
    """
    return Estimate(median / other_median, low / other_high, high / other_low)


def band(stage: str, demo: str, series: str) -> list[Column]:
    """The reads of a series' medians and of its band's two ends."""
    return [Column(stage, name, {"demo": demo, "series": series}) for name in ("y", "low", "high")]


def arm(stage: str, demo: str, name: str, column: str = "value", **more: str) -> Column:
    """The read of an arm's samples."""
    return Column(stage, column, {"demo": demo, "arm": name, **more})


def farthest(numbers: Sequence[float], target: float = 0.0) -> Estimate:
    """The largest distance of any number from `target`."""
    return point(max(abs(number - target) for number in numbers))
