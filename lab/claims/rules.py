"""How a claim is decided: one number with its interval against the range its words ask for."""

import re
from dataclasses import dataclass
from enum import StrEnum

from lab.results.findings import Finding
from lab.results.stats import ANY, SMALLEST_EFFECT, Range


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


NOTES_BATCH = 256  # images


@dataclass(frozen=True)
class Rule:
    """How a claim is decided: by one of its stage's findings, and the range it must lie in.

    A number outside of `possible`, as a part that is longer than its whole, is that of a broken
    measurement.
    """

    finding: str
    holds: Range
    possible: Range = ANY


def decide(found: Finding, holds: Range) -> Verdict:
    """The verdict of an interval on a range: within, outside, or across one of its ends.

    An interval of a level under 99 % decides nothing.
    """
    if not found.decides:
        return Verdict.INCONCLUSIVE
    if holds.low <= found.low and found.high <= holds.high:
        return Verdict.CONFIRMED
    if found.high < holds.low or found.low > holds.high:
        return Verdict.REFUTED
    return Verdict.INCONCLUSIVE
