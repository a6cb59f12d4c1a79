"""How a claim is decided: one number with its interval against the range its words ask for."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import partial

from lab.claims.evidence import Column, Metric, Read
from lab.results import findings, stats
from lab.results.findings import Finding as Estimate
from lab.results.findings import Over
from lab.results.stats import ANY, POSITIVE, SMALLEST_EFFECT, Range, median_interval, summarise

VARIES_BY_SEED = re.compile("accuracy|loss")  # of a training run's numbers


class Verdict(StrEnum):
    """What a machine can say of a claim."""

    CONFIRMED = "confirmed"
    REFUTED = "refuted"
    INCONCLUSIVE = "inconclusive"
    NOT_TESTABLE = "not testable here"


DECIDED = (Verdict.CONFIRMED, Verdict.REFUTED)


def at_least(low: float) -> Range:
    """The range from `low` up."""
    return Range(low=low)


def at_most(high: float) -> Range:
    """The range up to `high`."""
    return Range(high=high)


def near(target: float, tolerance: float) -> Range:
    """The range around a target."""
    return Range(target - tolerance, target + tolerance)


# What words ask for, the same in every claim.
#
# "faster", "better", "higher", "improves", "pays": more than 2 %, below which no difference counts.
# "has to", "needs", "inefficient", "noticeably", "as long as", "very like": a tenth.
# "well", "good", "enough", "clearly", "much", "harder": a factor of two, within it or over it.
# "huge": half of the whole.
# "every", "any", "always", "is", "whichever": one counterexample refutes them.
# "usually": several cases, of which the middle one, or the worst, decides.
# "may", "can", "some", "need not": one example confirms them, and no example refutes them.
FASTER = at_least(1 + SMALLEST_EFFECT)
NEEDED = 1.1
EXAMPLE_ONLY = re.compile(r"\b(may|might|can|some|need not)\b(?! hardly)")


def decide(estimate: Estimate, holds: Range) -> Verdict:
    """The verdict of an interval on a range: within, outside, or across one of its ends.

    An interval of a level under 99 % decides nothing.
    """
    if not estimate.decides:
        return Verdict.INCONCLUSIVE
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
    numbers do not answer the question. A number outside of `possible`, as a part that is longer
    than its whole, is that of a broken measurement.
    """

    reads: Sequence[Read]
    estimate: Callable[..., Estimate]
    holds: Range
    unit: str
    possible: Range = ANY

    def __post_init__(self) -> None:
        """Refuse to take what a training run came to for a number that does not vary.

        Raises:
            ValueError: such a rule, which one seed would decide.
        """
        for read in self.reads if self.estimate is point else ():
            if read.folder.startswith("train/") and VARIES_BY_SEED.search(read.name):
                raise ValueError(
                    f"{read.name} of {read.folder} is another with each seed, so it is no exact"
                    " number; read it over seeds (`samples(..., over=Over.SEEDS)`), or give it an"
                    " estimate of one sample, which decides nothing"
                )


@dataclass(frozen=True)
class Within:
    """How a claim is decided: by one of its stage's findings, and the range it must lie in.

    A number outside of `possible`, as a part that is longer than its whole, is that of a broken
    measurement.
    """

    finding: str
    holds: Range
    possible: Range = ANY


# --- the common shapes ---

AS_FAST, AS_LONG = findings.AS_FAST, findings.AS_LONG
POINTS = findings.POINTS
NOTES_BATCH = 256  # images


def exact(read: Read, holds: Range, unit: str) -> Rule:
    """The rule of one number that does not vary: counted, or computed the same way each time."""
    return Rule([read], point, holds, unit)


def ratio(folder: str, name: str, holds: Range, unit: str = AS_FAST) -> Rule:
    """The rule of a ratio that a benchmark wrote with the two ends of its interval over starts."""
    names = (name, f"{name}_low", f"{name}_high", "starts")
    return Rule([Metric(folder, each) for each in names], from_metrics, holds, unit)


def samples(
    column: Column, holds: Range, unit: str, over: Over = Over.STARTS, possible: Range = POSITIVE
) -> Rule:
    """The rule of the median of samples, of a quantity that can have the `possible` values."""
    return Rule([column], partial(median, over=over, possible=possible), holds, unit, possible)


def speedup(
    old: Column, new: Column, holds: Range, unit: str = AS_FAST, over: Over = Over.STARTS
) -> Rule:
    """The rule of old / new, paired in the rows' order: the same start, the same seed."""
    return Rule([old, new], PAIRED_RATIO[over], holds, unit)


def difference(
    one: Column, other: Column, holds: Range, unit: str, over: Over = Over.SEEDS
) -> Rule:
    """The rule of one - other, paired in the rows' order: the same seed, the same start."""
    return Rule([one, other], PAIRED_DIFFERENCE[over], holds, unit)


def point(number: float | Sequence[float]) -> Estimate:
    """A number that does not vary; of a column, its only one.

    Raises:
        ValueError: a column of several numbers.
    """
    if isinstance(number, Sequence):
        (number,) = number
    return Estimate(number, number, number)


def median(
    numbers: Sequence[float], over: Over = Over.STARTS, possible: Range = POSITIVE
) -> Estimate:
    """The median with its interval, named by its level and by what the samples are."""
    middle, count = summarise(numbers).median, len(numbers)
    return Estimate(middle, *median_interval(numbers, possible), count, over)


def times_ratio(old: Sequence[float], new: Sequence[float], over: Over = Over.STARTS) -> Estimate:
    """The median of old[i] / new[i]; ValueError for numbers that are no times."""
    ratio = stats.speedup(old, new)
    return Estimate(ratio.median, ratio.low, ratio.high, ratio.count, over)


def paired_difference(
    one: Sequence[float], other: Sequence[float], over: Over = Over.SEEDS
) -> Estimate:
    """The median of one[i] - other[i]; ValueError for differing lengths."""
    return median([a - b for a, b in zip(one, other, strict=True)], over, ANY)


def from_metrics(value: float, low: float, high: float, starts: float) -> Estimate:
    """An estimate over starts whose ends a stage has written."""
    return Estimate(value, low, high, int(starts), Over.STARTS)


# estimates by what their samples differ in
PAIRED_RATIO, PAIRED_DIFFERENCE = (
    {over: partial(estimate, over=over) for over in Over}
    for estimate in (times_ratio, paired_difference)
)


def values(
    stage: str, experiment: str, variant: str, column: str = "value", **columns: str
) -> Column:
    """The read of a variant's samples, in the order of the rows, of those with such `columns`."""
    return Column(stage, column, {"experiment": experiment, "variant": variant, **columns})


def farthest(numbers: Sequence[float], target: float = 0.0) -> Estimate:
    """The largest distance of any number from `target`."""
    return point(max(abs(number - target) for number in numbers))
