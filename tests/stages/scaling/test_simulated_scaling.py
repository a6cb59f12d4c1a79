"""Simulated scaling: the ideal without costs of communication, and less than it with them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lab.parallel.cost_model import Link
from stages.scaling.measure.predictor import Compute, Machine, Network
from stages.scaling.measure.simulated_scaling import strong_scaling, weak_scaling

NET = Network(num_tensors=8, num_bytes=1_000_000)
FREE = Link(0, 0)


@given(st.floats(1e-6, 1), st.floats(1e-6, 1))
def test_without_costs_of_its_own_a_link_leaves_the_ideal(fixed, per_image):
    ideal = Machine(Compute(0, per_image), FREE)
    assert strong_scaling(ideal, NET, 256, [1, 2, 1024]) == pytest.approx([1, 2, 1024])
    assert weak_scaling(
        Machine(Compute(fixed, per_image), FREE), NET, 256, [1, 2, 1024]
    ) == pytest.approx([1, 1, 1])


@given(st.floats(0, 1e-2), st.floats(1e-12, 1e-8))
def test_communication_takes_from_both_kinds_of_scaling(latency, s_per_byte):
    counts = [1, 2, 4, 64, 1024]
    machine = Machine(Compute(1e-3, 1e-4), Link(latency, s_per_byte))
    assert all(
        s < n
        for s, n in zip(strong_scaling(machine, NET, 256, counts[1:]), counts[1:], strict=True)
    )
    left = weak_scaling(machine, NET, 256, counts)
    assert left == sorted(left, reverse=True)
    assert left[0] == 1
