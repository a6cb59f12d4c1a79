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

CONFIRMED, REFUTED, INCONCLUSIVE, _ = Verdict
ENDS = st.tuples(st.floats(-1e6, 1e6), st.floats(-1e6, 1e6)).map(sorted)


def of_starts(value: float, low: float, high: float, count: int = 8) -> Estimate:
    return from_metrics(value, low, high, count)


@given(ENDS, ENDS)
def test_verdict_is_that_of_the_whole_interval(interval, ends):
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


@pytest.mark.parametrize("count", [1, 2, 3])
def test_weak_interval_decides_nothing(count):
    """Four samples are the fewest whose interval holds the median with 99 %."""
    assert decide(of_starts(2, 1.9, 2.1, count), at_least(1.02)) is INCONCLUSIVE
    assert decide(of_starts(2, 1.9, 2.1, 4), at_least(1.02)) is CONFIRMED
    assert decide(point(2), at_least(1.02)) is CONFIRMED, "what does not vary needs no interval"


@pytest.mark.parametrize(
    "broken",
    [
        of_starts(3, 1, 2),
        of_starts(math.nan, 1, 2),
        of_starts(1, 2, 0),
        of_starts(1, -math.inf, 2),
        of_starts(1, 1, 1, count=0),
        Estimate(1.5, 1, 2),
        Estimate(1.5, 1, 2, n=8),
        Estimate(1.5, 1, 2, over=Over.SEEDS),
    ],
)
def test_inconsistent_estimates(broken):
    assert of_starts(1.5, 1, 2).consistent()
    assert point(1).consistent()
    assert not broken.consistent()


def test_common_estimators_by_hand():
    assert point(3) == point([3]) == Estimate(3, 3, 3)
    assert farthest([1, -5, 2], 1) == point(6)
    assert median([3, 1, 2]) == Estimate(2, 1, 3, 3, Over.STARTS)
    assert times_ratio([4, 6, 8], [2, 2, 2]) == Estimate(3, 2, 4, 3, Over.STARTS)
    assert paired_difference([5, 5], [4, 2]) == Estimate(2, 1, 3, 2, Over.SEEDS)
    assert of_starts(2, 1, 3) == Estimate(2, 1, 3, 8, Over.STARTS)
    with pytest.raises(ValueError, match="pairs"):
        times_ratio([1, 2], [1])
    with pytest.raises(ValueError, match="values"):
        point([1, 2])


@pytest.mark.parametrize(
    ("holds", "english", "chinese"),
    [
        (at_least(2), "at least 2", "至少 2"),
        (at_most(0.5), "at most 0.5", "至多 0.5"),
        (near(80, 3), "77 to 83", "77 至 83"),
        (near(0, 0), "exactly 0", "恰为 0"),
    ],
)
def test_ranges_in_words(holds, english, chinese):
    assert str(holds) == english
    with speaking("zh", catalogue.read("zh")):
        assert range_in_words(holds) == chinese


@pytest.mark.parametrize("name", ["test_accuracy_percent", "final_test_accuracy", "train_loss"])
def test_one_seed_is_no_exact_number(name):
    with pytest.raises(ValueError, match="SEEDS"):
        exact(Metric("train/record_90", name), at_least(0.5), "%")
    exact(Metric("train/record_90", "num_params"), at_least(1), "parameters")
