"""The parts of a rule: intervals, ranges, and the verdict from comparing them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lab.claims.rules import Verdict, decide, overall
from lab.report.language import locale
from lab.report.verdict_words import range_in_words
from lab.results.findings import Finding, Over, exact
from lab.results.stats import Range

CONFIRMED, REFUTED, DEPENDS, INCONCLUSIVE, NOT_TESTABLE = Verdict
ENDS = st.tuples(st.floats(-1e6, 1e6), st.floats(-1e6, 1e6)).map(sorted)


def of_starts(value: float, low: float, high: float, count: int = 8) -> Finding:
    return Finding(value, low, high, count, Over.STARTS)


@given(ENDS, ENDS)
def test_a_verdict_holds_for_the_whole_interval(interval, ends):
    (low, high), holds = interval, Range(*ends)
    verdict = decide(of_starts(low, low, high), holds)
    inside = [
        holds.low <= number <= holds.high for number in (low, high, *ends) if low <= number <= high
    ]
    if verdict is CONFIRMED:
        assert all(inside)
    elif verdict is REFUTED:
        assert not any(inside)
    else:
        assert low < high
        assert any(inside)


@pytest.mark.parametrize(
    ("cases", "verdict"),
    [
        ([CONFIRMED, CONFIRMED], CONFIRMED),
        ([REFUTED, NOT_TESTABLE], NOT_TESTABLE),
        ([CONFIRMED, REFUTED, INCONCLUSIVE], DEPENDS),
        ([REFUTED, INCONCLUSIVE], INCONCLUSIVE),
        ([INCONCLUSIVE, NOT_TESTABLE], NOT_TESTABLE),
        ([NOT_TESTABLE, NOT_TESTABLE], NOT_TESTABLE),
    ],
)
def test_cases_that_disagree_give_depends(cases, verdict):
    assert overall(cases) is overall(cases[::-1]) is verdict


@pytest.mark.parametrize("other", [CONFIRMED, INCONCLUSIVE, NOT_TESTABLE])
def test_one_counterexample_refutes_a_claim_about_every_case(other):
    assert overall([other, REFUTED], of_every_case=True) is REFUTED
    assert overall([other, other], of_every_case=True) is other


@pytest.mark.parametrize("count", [1, 2, 3])
def test_a_weak_interval_decides_nothing(count):
    """Fewer than four samples give no 99% interval of the median."""
    assert decide(of_starts(2, 1.9, 2.1, count), Range(low=1.02)) is INCONCLUSIVE
    assert decide(of_starts(2, 1.9, 2.1, 4), Range(low=1.02)) is CONFIRMED
    assert decide(exact(2), Range(low=1.02)) is CONFIRMED, "what does not vary needs no interval"


@pytest.mark.parametrize(
    ("holds", "english", "chinese"),
    [
        (Range(low=2), "at least 2", "至少 2"),
        (Range(high=0.5), "at most 0.5", "至多 0.5"),
        (Range(77, 83), "77 to 83", "77 至 83"),
        (Range(0, 0), "exactly 0", "恰为 0"),
    ],
)
def test_ranges_in_words(holds, english, chinese):
    assert str(holds) == english
    with locale("zh"):
        assert range_in_words(holds) == chinese
