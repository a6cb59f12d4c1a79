"""Medians, their intervals, and what is only noise."""

import itertools
import math
import statistics

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lab.results.stats import (
    ANY,
    PERCENT,
    POSITIVE,
    difference_interval,
    false_speedup_bound,
    fit_line,
    largest_chance,
    median_interval,
    median_level,
    summarise,
)


@given(st.floats(0.1, 100), st.floats(0.01, 100))
def test_exact_line_is_fitted_exactly(slope, intercept):
    counts = [1, 10, 100, 1000]
    found = fit_line(counts, [slope * n + intercept for n in counts])
    assert found == pytest.approx((slope, intercept), rel=1e-6)


@pytest.mark.parametrize("errors", [*itertools.product((0.99, 1.01), repeat=3)])
def test_a_line_is_fitted_as_well_at_few_counts_as_at_many(errors):
    """At 100 an error of 1% is as large as the intercept; absolute least squares are 12% off."""
    times = [(n + 1) * error for n, error in zip((1, 10, 100), errors, strict=True)]
    assert fit_line([1, 10, 100], times) == pytest.approx((1, 1), rel=0.035)


@given(st.lists(st.floats(1e-3, 1e3), min_size=2, max_size=20))
def test_summary_agrees_with_the_standard_library(samples):
    found = summarise(samples)
    quartiles = statistics.quantiles(samples, method="inclusive")
    assert [found.q1, found.median, found.q3] == pytest.approx(quartiles, rel=1e-12)
    assert found.count == len(samples)


def test_noisy_is_an_iqr_over_a_tenth_of_the_median():
    assert not summarise([1.0, 1.0, 1.05, 1.1]).noisy
    assert summarise([1.0, 1.0, 1.5, 2.0]).noisy


@pytest.mark.parametrize("samples", [[], [1.0, math.nan], [math.inf]])
def test_summary_refuses_empty_or_non_finite_samples(samples):
    with pytest.raises(ValueError, match="finite"):
        summarise(samples)


def test_interval_drops_as_many_samples_as_99_percent_allow():
    """Binomial: each of n samples lies above the median with probability 1/2."""
    for n in [1, 2, 3, *range(8, 200)]:
        tails = [2 * sum(math.comb(n, k) for k in range(d + 1)) / 2**n for d in range(n // 2)]
        dropped = max([d for d, beyond in enumerate(tails) if beyond <= 0.01], default=0)
        assert median_interval(range(n), ANY) == (dropped, n - 1 - dropped), n
        beyond = tails[dropped] if tails else 1.0
        assert median_level(n) == pytest.approx(1 - beyond), n


UNIFORM = np.random.default_rng(1).uniform(-1, 1, (100_000, 8))


@pytest.mark.parametrize("count", range(4, 9))
@pytest.mark.parametrize(
    ("samples", "at_worst"),
    [
        (UNIFORM, True),
        (np.where(UNIFORM > 0, 9 * UNIFORM, UNIFORM), True),  # uniform on each side of 0
        (np.random.default_rng(2).normal(0, 1, UNIFORM.shape), False),
        (np.sign(UNIFORM) * np.random.default_rng(3).pareto(1, UNIFORM.shape), False),
    ],
)
def test_intervals_hold_the_median(samples, at_worst, count):
    """For densities that fall off from 0; for flat ones the level is exact."""
    ends = np.array([median_interval(each, ANY) for each in samples[:20_000, :count]])
    held = float(np.mean((ends[:, 0] <= 0) & (ends[:, 1] >= 0)))
    assert held > median_level(count) - 0.002, "three standard errors"
    if at_worst:
        assert held < median_level(count) + 0.002


def test_interval_of_few_samples_by_hand():
    """Five samples: 100 ** (1 / 4) / 2 - 1 = 0.581 times the range on each side."""
    low, high = median_interval([3, 1, 2, 2, 2], ANY)
    assert (low, high) == pytest.approx((1 - 2 * 0.58114, 3 + 2 * 0.58114), abs=1e-4)
    assert median_level(5) == 0.99


@given(st.lists(st.floats(1e-6, 1e6), min_size=1, max_size=12), st.floats(1e-3, 1e3))
def test_positive_quantities_have_positive_intervals(samples, factor):
    """The interval is equivalent in any unit, and as a time or as a rate."""
    low, high = median_interval(samples, POSITIVE)
    assert 0 < low <= statistics.median(samples) <= high
    scaled = median_interval([factor * each for each in samples], POSITIVE)
    assert scaled == pytest.approx((factor * low, factor * high))
    inverse = median_interval([1 / each for each in samples], POSITIVE)
    assert inverse == pytest.approx((1 / high, 1 / low))


def test_interval_with_one_slow_process_by_hand():
    """Five samples: their range is a factor of 4, and 4 ** 0.581 = 2.238."""
    found = median_interval([25.0, 90.0, 95.0, 92.0, 100.0], POSITIVE)
    assert found == pytest.approx((25 / 2.238, 100 * 2.238), rel=1e-3)


def test_no_interval_leaves_the_possible_range():
    assert median_interval([0, 0, 0, 0, 0, 20], PERCENT)[0] == 0
    assert median_interval([99, 99.5, 98, 100], PERCENT)[1] == 100
    assert median_interval([0, 1, 2, 3], POSITIVE)[0] == 0
    assert median_interval([0, 1, 2, 3], ANY)[0] < 0


def test_difference_of_intervals_by_hand():
    """Distances to the ends are 1 and 2 for 5, and 4 and 3 for 2."""
    low, high = difference_interval((5, 4, 7), (2, -2, 5))
    assert (low, high) == (3 - math.hypot(1, 3), 3 + math.hypot(2, 4))


def test_largest_chance_is_the_clopper_pearson_bound():
    for n in (1, 8, 40):
        assert largest_chance(0, n) == pytest.approx(1 - 0.025 ** (1 / n), rel=1e-9)
        assert largest_chance(n, n) == 1
    assert largest_chance(5, 20) == pytest.approx(0.4910459, abs=1e-6)  # tabulated


def test_bound_on_false_speedups():
    """Of 20 processes three lie beyond each end, so 17 on one side are enough."""
    chance = 1 - 0.025 ** (1 / 40)  # of 0 in 40
    assert false_speedup_bound(0, 0, 40, 8) == pytest.approx(2 * chance**8, rel=1e-9, abs=0)
    enough = sum(math.comb(20, k) * chance**k * (1 - chance) ** (20 - k) for k in range(17, 21))
    assert median_interval(range(20), ANY) == (3, 16)
    assert false_speedup_bound(0, 0, 40, 20) == pytest.approx(2 * enough, rel=1e-9, abs=0)
    for biased in ((8, 0), (0, 8)):
        assert false_speedup_bound(*biased, 8, 8) == 1, "a biased control bounds nothing"
