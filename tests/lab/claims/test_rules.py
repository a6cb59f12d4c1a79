"""The parts of a rule: intervals, ranges and the verdict of one on the other."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lab.claims.rules import (
    Estimate,
    Range,
    Verdict,
    at_least,
    at_most,
    band_ratio,
    decide,
    farthest,
    median,
    near,
    point,
    times_ratio,
)
from lab.report.language import speaking
from lab.report.verdicts import range_in_words
from stages.report import catalogue

CONFIRMED, REFUTED, INCONCLUSIVE, NOT_TESTABLE = Verdict
numbers = st.floats(-1e6, 1e6)


@given(st.tuples(numbers, numbers).map(sorted), st.tuples(numbers, numbers).map(sorted))
def test_a_verdict_is_that_of_every_number_in_the_interval_or_there_is_none(interval, ends):
    (low, high), holds = interval, Range(*ends)
    verdict = decide(Estimate(low, low, high), holds)
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


def test_the_whole_interval_decides():
    for low, high, verdict in (
        (1.03, 2, CONFIRMED),
        (1.02, 1.02, CONFIRMED),
        (0.9, 1.01, REFUTED),
        (0.99, 1.03, INCONCLUSIVE),
    ):
        assert decide(Estimate((low + high) / 2, low, high), at_least(1.02)) is verdict, (low, high)


def test_an_interval_holds_its_number_and_is_finite():
    assert Estimate(1.5, 1, 2).consistent()
    for broken in (
        Estimate(3, 1, 2),
        Estimate(math.nan, 1, 2),
        Estimate(1, 2, 0),
        Estimate(1, -math.inf, 2),
    ):
        assert not broken.consistent(), broken


def test_what_the_common_rules_make_of_numbers():
    assert point(3) == Estimate(3, 3, 3)
    assert farthest([1, -5, 2], 1) == point(6)
    assert median([3, 1, 2]) == Estimate(2, 1, 3)
    assert times_ratio([4, 6, 8], [2, 2, 2]) == Estimate(3, 2, 4)
    assert band_ratio(6, 4, 8, 2, 1, 4) == Estimate(3, 1, 8)
    with pytest.raises(ValueError, match="pairs of positive times"):
        times_ratio([1, 2], [1])


def test_ranges_in_words():
    ranges = (at_least(2), at_most(0.5), near(80, 3), near(0, 0))
    assert [str(holds) for holds in ranges] == [
        "at least 2",
        "at most 0.5",
        "77 to 83",
        "exactly 0",
    ]
    with speaking("zh", catalogue.read("zh")):
        assert [range_in_words(holds) for holds in ranges] == [
            "至少 2",
            "至多 0.5",
            "77 至 83",
            "恰为 0",
        ]
