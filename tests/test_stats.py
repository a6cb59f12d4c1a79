import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lab.stats import exceeds_noise, summarise

SECONDS = st.lists(st.floats(1e-3, 1e3), min_size=1, max_size=20)


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


@pytest.mark.parametrize("samples", [[], [1.0, float("nan")], [float("inf")]])
def test_summary_refuses_what_is_no_measurement(samples):
    with pytest.raises(ValueError, match="finite"):
        summarise(samples)


def test_noise_is_three_spreads_and_two_percent():
    assert not exceeds_noise(10, 10.19, 0, 0)
    assert exceeds_noise(10, 10.21, 0, 0)
    assert not exceeds_noise(10, 12, 0.6, 0.6)
    assert exceeds_noise(10, 13, 0.6, 0.6)
