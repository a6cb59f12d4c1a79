"""The model of what overlap hides, against times worked out by hand and what must hold of any."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stages.bench_buckets.measure.hidden import SumCost, exposed_ms, fit_cost, ready_by_half

FREE = SumCost(0, 0)


def test_a_sum_begins_when_its_bucket_is_full_and_the_one_before_has_ended():
    """Sums of 4 bytes take 3 ms: from 2 to 5, 5 to 8 (full at 4), and 10 to 13; the pass ends."""
    cost = SumCost(1, 0.5)
    assert exposed_ms([2, 4, 10], [4, 4, 4], cost, 10) == 3
    assert exposed_ms([2, 4, 6], [4, 4, 4], cost, 10) == 1, "three in a row, from 2 to 11"
    assert exposed_ms([2, 4], [4, 4], cost, 10) == 0
    assert exposed_ms([10], [12], cost, 10) == 7, "one bucket hides nothing"


SIZES = st.lists(st.floats(1, 1e6), min_size=1, max_size=8)


@given(SIZES, st.floats(0, 10), st.floats(0, 1e-3), st.data())
def test_what_is_exposed_lies_between_the_last_sum_and_all_sums(sizes, each, per_byte, data):
    cost, n = SumCost(each, per_byte), len(sizes)
    full = sorted(data.draw(st.lists(st.floats(0, 100), min_size=n, max_size=n)))
    exposed = exposed_ms(full, sizes, cost, full[-1])
    assert cost.ms(sizes[-1]) - 1e-6 <= exposed <= sum(map(cost.ms, sizes)) + 1e-6
    assert exposed_ms(full, sizes, FREE, full[-1]) == 0


@given(st.floats(0, 5), st.floats(1e-9, 1e-6), st.sets(st.integers(1, 60), min_size=2))
def test_the_cost_is_found_from_the_times_of_several_numbers_of_buckets(each, per_byte, counts):
    num_bytes = 44_703_272
    found = fit_cost(num_bytes, {n: each * n + per_byte * num_bytes for n in counts})
    assert found.each_ms == pytest.approx(each, abs=1e-6)
    assert found.ms_per_byte == pytest.approx(per_byte, rel=1e-4)


def test_a_cost_is_never_below_zero():
    """More buckets were faster: each is free, and the bytes take the mean of the times."""
    found = fit_cost(10, {1: 30.0, 2: 20.0})
    assert (found.each_ms, found.ms_per_byte) == (0, 2.5)
    found = fit_cost(10, {10: 10.0, 20: 30.0})
    assert (found.each_ms, found.ms_per_byte) == (700 / 500, 0)


def test_what_is_ready_by_half_is_counted_in_bytes():
    assert ready_by_half([1, 5, 6, 10], [10, 20, 30, 40]) == 30
