"""The parts of a rule: intervals, ranges and the verdict of one on the other."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lab.claims.evidence import Metric
from lab.claims.rules import (
    Estimate,
    Over,
    Range,
    Verdict,
    at_least,
    at_most,
    decide,
    exact,
    farthest,
    from_metrics,
    median,
    near,
    paired_difference,
    point,
    times_ratio,
)
from lab.report.language import speaking
from lab.report.verdicts import range_in_words
from stages.report import catalogue

CONFIRMED, REFUTED, INCONCLUSIVE, NOT_TESTABLE = Verdict


def of_starts(value: float, low: float, high: float, count: int = 8) -> Estimate:
    return from_metrics(value, low, high, count)


numbers = st.floats(-1e6, 1e6)


@given(st.tuples(numbers, numbers).map(sorted), st.tuples(numbers, numbers).map(sorted))
def test_a_verdict_is_that_of_every_number_in_the_interval_or_there_is_none(interval, ends):
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


def test_the_whole_interval_decides():
    for low, high, verdict in (
        (1.03, 2, CONFIRMED),
        (1.02, 1.02, CONFIRMED),
        (0.9, 1.01, REFUTED),
        (0.99, 1.03, INCONCLUSIVE),
    ):
        assert decide(of_starts((low + high) / 2, low, high), at_least(1.02)) is verdict, (
            low,
            high,
        )


def test_an_interval_that_holds_the_truth_too_seldom_decides_nothing():
    for count, verdict in ((1, INCONCLUSIVE), (3, INCONCLUSIVE), (7, INCONCLUSIVE), (8, CONFIRMED)):
        assert decide(of_starts(2, 1.9, 2.1, count), at_least(1.02)) is verdict, count
    assert decide(point(2), at_least(1.02)) is CONFIRMED, "what does not vary needs no interval"


def test_an_interval_holds_its_number_is_finite_and_has_a_name():
    assert of_starts(1.5, 1, 2).consistent()
    assert point(1).consistent()
    for broken in (
        of_starts(3, 1, 2),
        of_starts(math.nan, 1, 2),
        of_starts(1, 2, 0),
        of_starts(1, -math.inf, 2),
        of_starts(1, 1, 1, count=0),
        Estimate(1.5, 1, 2),
        Estimate(1.5, 1, 2, level=0.99),
        Estimate(1.5, 1, 2, level=0.99, count=8),
        Estimate(1.5, 1, 2, count=8, over=Over.SEEDS),
    ):
        assert not broken.consistent(), broken


def test_what_the_common_rules_make_of_numbers():
    assert point(3) == point([3]) == Estimate(3, 3, 3)
    assert farthest([1, -5, 2], 1) == point(6)
    assert median([3, 1, 2]) == Estimate(2, 1, 3, 0.75, 3, Over.STARTS)
    assert times_ratio([4, 6, 8], [2, 2, 2]) == Estimate(3, 2, 4, 0.75, 3, Over.STARTS)
    assert paired_difference([5, 5], [4, 2]) == Estimate(2, 1, 3, 0.5, 2, Over.SEEDS)
    assert of_starts(2, 1, 3) == Estimate(2, 1, 3, 1 - 2 / 256, 8, Over.STARTS)
    with pytest.raises(ValueError, match="pairs of positive times"):
        times_ratio([1, 2], [1])
    with pytest.raises(ValueError, match="too many values"):
        point([1, 2])
    assert exact(Metric("s", "x"), at_most(1), "bytes").estimate is point


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


@pytest.mark.parametrize("name", ["test_accuracy_percent", "final_test_accuracy", "train_loss"])
def test_one_seed_is_no_exact_number(name):
    with pytest.raises(ValueError, match="SEEDS"):
        exact(Metric("train/record_90", name), at_least(0.5), "%")
    exact(Metric("train/record_90", "num_params"), at_least(1), "parameters")
