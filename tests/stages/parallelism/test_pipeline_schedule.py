"""A pipeline's schedule: its bubble, its order, its length."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stages.parallelism.measure.pipeline_schedule import idle_share, schedule


@given(st.integers(1, 6), st.integers(1, 12))
def test_the_bubble_of_equal_parts(num_devices, num_micro_batches):
    slots = schedule([1.0] * num_devices, num_micro_batches)
    assert idle_share(slots) == pytest.approx(
        (num_devices - 1) / (num_micro_batches + num_devices - 1)
    )


@given(st.lists(st.floats(0.1, 10), min_size=1, max_size=5), st.integers(1, 8))
def test_a_schedule_is_in_order_and_keeps_the_slowest_device_busy(durations, num_micro_batches):
    slots = schedule(durations, num_micro_batches)
    assert len(slots) == len(durations) * num_micro_batches
    by_place = {(s.device, s.micro_batch): s for s in slots}
    for slot in slots:
        for before in ((slot.device - 1, slot.micro_batch), (slot.device, slot.micro_batch - 1)):
            assert before not in by_place or by_place[before].end <= slot.start + 1e-9
    end = max(s.end for s in slots)
    assert end == pytest.approx(sum(durations) + (num_micro_batches - 1) * max(durations))
