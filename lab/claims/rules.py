"""How a claim is decided: one number with its interval against the range its words ask for.

What words ask for is the same in every claim:

"faster", "better", "higher", "improves", "pays": more than 2 %, below which no difference counts.
"has to", "needs", "inefficient", "noticeably", "as long as", "very like": a tenth.
"well", "good", "enough", "clearly", "much", "harder": a factor of two, within it or over it.
"huge": half of the whole.
"every", "any", "always", "is", "whichever": one counterexample refutes them.
"usually": most of several cases.
"may", "can", "some", "need not": one example confirms them, and no example refutes them.
"""

from collections.abc import Iterable
from datetime import date
from enum import StrEnum

from lab.results.findings import Finding
from lab.results.stats import Range

SINCE = date(2026, 11, 26)  # last change of these words, or of what an interval must hold


class Verdict(StrEnum):
    """A machine's result for a claim."""

    CONFIRMED = "confirmed"
    REFUTED = "refuted"
    DEPENDS = "depends"  # on a condition: one case is confirmed, a different one refuted
    INCONCLUSIVE = "inconclusive"
    NOT_TESTABLE = "not testable here"


DECIDED = (Verdict.CONFIRMED, Verdict.REFUTED)


def overall(verdicts: Iterable[Verdict], of_every_case: bool = False) -> Verdict:
    """Return the verdict on a sentence from its cases' verdicts.

    A sentence depends on its cases if one confirms it and a different one refutes it; else all must
    agree. A sentence `of_every_case` is refuted by a single case.
    """
    found = set(verdicts)
    if of_every_case and Verdict.REFUTED in found:
        return Verdict.REFUTED
    if found.issuperset(DECIDED):
        return Verdict.DEPENDS
    for open_ in (Verdict.NOT_TESTABLE, Verdict.INCONCLUSIVE):
        if open_ in found:
            return open_
    return found.pop()


def decide(found: Finding, holds: Range) -> Verdict:
    """Return the verdict of an interval on a range: within, outside, or across one of its ends.

    An interval with a level under 99 % decides nothing.
    """
    if not found.decides:
        return Verdict.INCONCLUSIVE
    if holds.low <= found.low and found.high <= holds.high:
        return Verdict.CONFIRMED
    if found.high < holds.low or found.low > holds.high:
        return Verdict.REFUTED
    return Verdict.INCONCLUSIVE
