"""What an all-reduce takes of each device, by hand."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from lab.parallel.replicas import allreduce, rebinding_allreduce
from stages.parallelism.measure.exchange import Exchange, exchange, sharded_allreduce
from stages.parallelism.measure.wires import Crossings

COUNTS = (2, 3, 4)


@pytest.mark.parametrize("count", COUNTS)
def test_in_the_notes_all_reduce_one_device_adds_and_sends_to_all_others(count):
    assert exchange(allreduce, count, 0) == Exchange(count - 1, 1, 100)


@pytest.mark.parametrize("count", COUNTS)
def test_devices_that_share_the_work_send_no_more_than_twice_the_gradient(count):
    found = exchange(sharded_allreduce, count, 0)
    assert found.most_sent == pytest.approx(2 * (count - 1) / count, rel=1e-3)
    assert found.busiest_adds == pytest.approx(100 / count, rel=1e-3)


def test_an_all_reduce_that_leaves_devices_without_the_sum_is_refused():
    with pytest.raises(ValueError, match="the sum on every device"):
        exchange(rebinding_allreduce, 2, 0)


@given(st.integers(1, 5), st.integers(0, 9))
def test_the_sharded_sum_is_the_sum_of_any_length(count, length):
    data = [torch.arange(float(length)) * (i + 1) for i in range(count)]
    sharded_allreduce(data)
    for X in data:
        assert torch.equal(X, torch.arange(float(length)) * (count * (count + 1) / 2))


def test_crossings_count_what_goes_from_device_to_device():
    a, b = torch.ones(3), torch.ones(3)
    with Crossings([a, b]) as found:
        a.add_(b)
        a.add_(a)
        b[:2].copy_(a[:2])
    assert (found.sent, found.received, found.added) == ([8, 12], [12, 8], [6, 0])
