"""Medians, their intervals, and what is only noise."""

import math
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lab.results.stats import (
    Ratio,
    difference_interval,
    exceeds_noise,
    false_speedup_bound,
    fit_line,
    largest_chance,
    median_interval,
    median_level,
    median_ratio,
    speedup,
    summarise,
)

SECONDS = st.lists(st.floats(1e-3, 1e3), min_size=1, max_size=20)


@given(st.floats(0.1, 100), st.floats(0.01, 100))
def test_a_line_is_fitted_exactly_where_there_is_one(slope, intercept):
    counts = [1, 10, 100, 1000]
    found = fit_line(counts, [slope * n + intercept for n in counts])
    assert found == pytest.approx((slope, intercept), rel=1e-6)


@given(SECONDS)
def test_summary_agrees_with_numpy_and_is_ordered(samples):
    summary = summarise(samples)
    assert summary.median == pytest.approx(np.median(samples), rel=1e-12)
    assert min(samples) <= summary.q1 <= summary.median * (1 + 1e-12)
    assert summary.median * (1 - 1e-12) <= summary.q3 <= max(samples)
    assert summary.count == len(samples)


def test_noisy_is_an_iqr_over_a_tenth_of_the_median():
    assert not summarise([1.0, 1.0, 1.05, 1.1]).noisy
    assert summarise([1.0, 1.0, 1.5, 2.0]).noisy


def test_summary_refuses_what_is_no_measurement():
    for samples in ([], [1.0, float("nan")], [float("inf")]):
        with pytest.raises(ValueError, match="finite"):
            summarise(samples)


def test_noise_is_three_spreads_and_two_percent():
    assert not exceeds_noise(10, 10.19, 0, 0)
    assert exceeds_noise(10, 10.21, 0, 0)
    assert not exceeds_noise(10, 12, 0.6, 0.6)
    assert exceeds_noise(10, 13, 0.6, 0.6)


def test_a_speedup_is_the_median_of_the_pairs_with_its_interval():
    ratio = speedup([2.0, 4.0, 6.0, 8.0] * 3, [1.0, 1.0, 2.0, 2.0] * 3)
    assert (ratio.median, ratio.low, ratio.high) == (3.5, 2.0, 4.0)
    assert ratio.verdict == "faster"
    assert speedup([1.0] * 9, [2.0] * 9).verdict == "slower"


def test_nothing_is_claimed_while_the_interval_comes_near_one():
    for low, high, verdict in (
        (1.021, 3, "faster"),
        (1.01, 3, "inconclusive"),
        (0.5, 2, "inconclusive"),
        (0.2, 0.97, "slower"),
        (0.2, 0.99, "inconclusive"),
    ):
        assert Ratio((low + high) / 2, low, high, count=8).verdict == verdict, (low, high)
    assert Ratio(2.0, 1.9, 2.1, count=7).verdict == "inconclusive", "98.4 % is too little"


@pytest.mark.parametrize("count", [1, 3, 7, 8, 11, 12, 20, 40])
def test_intervals_hold_the_true_median_as_often_as_their_level_says(count):
    """20,000 simulated experiments of skewed samples; three standard errors are 0.3 to 1.1 %."""
    samples = np.random.default_rng(count).lognormal(0, 0.3, (20_000, count))
    ends = np.array([median_interval(each) for each in samples])
    held = float(np.mean((ends[:, 0] <= 1) & (ends[:, 1] >= 1)))
    level = median_level(count)
    assert held == pytest.approx(level, abs=3 * math.sqrt(level * (1 - level) / 20_000) + 1e-9)
    assert (level >= 0.99) == (count >= 8)


def test_two_runs_of_one_thing_differ_as_seldom_as_their_intervals_level_says():
    """Two runs of 8 starts each: 0 is in the interval of the difference of their medians."""
    runs = np.random.default_rng(0).lognormal(0, 0.1, (4000, 2, 8))
    held = 0
    for pair in runs:
        one, other = ((float(np.median(r)), *median_interval(r)) for r in pair)
        low, high = difference_interval(one, other)
        held += low <= 0 <= high
    assert held / 4000 >= 0.985
    assert difference_interval((5, 4, 7), (2, -2, 5)) == (
        3 - math.hypot(1, 3),
        3 + math.hypot(2, 4),
    )


def test_levels_by_hand():
    assert [median_level(n) for n in (1, 2, 3, 8)] == [0, 0.5, 0.75, 1 - 2 / 256]


def test_the_largest_chance_is_that_of_clopper_and_pearson():
    for n in (1, 8, 40):
        assert largest_chance(0, n) == pytest.approx(1 - 0.025 ** (1 / n), rel=1e-9)
        assert largest_chance(n, n) == 1
    assert largest_chance(5, 20) == pytest.approx(0.4910459, abs=1e-6)  # tabulated


def test_the_bound_on_false_speedups_holds_for_what_starts_really_do():
    """Pools of 40 starts of an arm against itself; what groups of 8 then show, simulated."""
    rng = np.random.default_rng(0)
    for spread, bias in ((0.005, 1.0), (0.05, 1.0), (0.2, 1.0), (0.05, 1.04), (0.02, 1.05)):
        groups = bias * rng.lognormal(0, spread, (4000, 8))
        false = np.mean([median_ratio(each).verdict != "inconclusive" for each in groups])
        pools = bias * rng.lognormal(0, spread, (400, 40))
        counts = Counter((int((p > 1.02).sum()), int((p < 1 / 1.02).sum())) for p in pools)
        holding = sum(
            n for (o, u), n in counts.items() if false_speedup_bound(o, u, 40, 8) >= false
        )
        assert holding >= 0.93 * 400, (spread, bias)
    assert false_speedup_bound(0, 0, 40, 8) == pytest.approx(2 * (1 - 0.025 ** (1 / 40)) ** 8)
    assert false_speedup_bound(8, 0, 8, 8) == 1, "a biased control bounds nothing"


def test_a_false_speedup_of_many_starts_needs_no_more_of_them_than_its_interval_holds():
    """Of 20, three beyond each end: 17 on one side are enough, each with the chance of 0 in 40."""
    chance = 1 - 0.025 ** (1 / 40)
    enough = sum(math.comb(20, k) * chance**k * (1 - chance) ** (20 - k) for k in range(17, 21))
    assert median_interval(range(20)) == (3, 16)
    assert false_speedup_bound(0, 0, 40, 20) == pytest.approx(2 * enough)


def test_times_that_cannot_be_are_no_speedup():
    nan = float("nan")
    for old, new in (([], []), ([1.0], [1.0, 2.0]), ([0.0], [1.0]), ([1.0], [nan])):
        with pytest.raises(ValueError, match="expected"):
            speedup(old, new)


def test_the_interval_drops_as_many_samples_as_99_percent_allow_and_no_more():
    """By the binomial distribution: `dropped` of n lie beyond an end with the chance of heads."""
    for n in range(1, 200):
        tails = [2 * sum(math.comb(n, k) for k in range(d + 1)) / 2**n for d in range(n // 2)]
        expected = max([d for d, beyond in enumerate(tails) if beyond <= 0.01], default=0)
        found = median_ratio([1.0 + i for i in range(n)])
        assert (found.low, found.high) == (1.0 + expected, float(n - expected)), n
