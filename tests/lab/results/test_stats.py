"""Medians, their intervals, and what is only noise."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lab.results.stats import Ratio, exceeds_noise, fit_line, median_ratio, speedup, summarise

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
        assert Ratio((low + high) / 2, low, high).verdict == verdict, (low, high)


def test_an_interval_of_an_arm_against_itself_holds_one():
    rng = np.random.default_rng(0)
    inside = [
        (r := speedup(*rng.lognormal(0, 0.2, (2, 12)))).low <= 1 <= r.high for _ in range(2000)
    ]
    assert np.mean(inside) >= 0.985


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
