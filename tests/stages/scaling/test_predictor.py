import pytest
from hypothesis import given
from hypothesis import strategies as st

from lab.parallel.cost_model import Link
from stages.scaling.predictor import (
    Compute,
    Machine,
    Network,
    fit_compute,
    strong_scaling,
    weak_scaling,
)

NET = Network(num_tensors=8, num_bytes=1_000_000)
FREE = Link(0, 0)


def test_compute_is_told_from_its_own_line_and_never_negative():
    assert fit_compute({4: 0.006, 16: 0.018}) == Compute(pytest.approx(0.002), pytest.approx(0.001))
    assert fit_compute({4: 0.001, 16: 0.018}).fixed_s == 0


def test_a_step_is_its_parts_one_after_the_other():
    machine = Machine(Compute(0.002, 0.001), Link(1e-3, 1e-8))
    assert machine.parts(NET, "star", False, 2, 10) == pytest.approx(
        (0.012, 2 * 8 * 1e-3 + 2 * 1e6 * 1e-8)
    )
    assert machine.step_s(NET, "ring", True, 4, 10) == pytest.approx(0.012 + 6e-3 + 1.5 * 1e-2)


def test_one_device_communicates_nothing_and_a_bucket_has_to_be_filled():
    machine, net = (
        Machine(Compute(0.002, 0.001), Link(1, 1, 1)),
        Network(8, 1_000_000, joining_s=0.5),
    )
    assert machine.parts(net, "ring", True, 1, 7) == (pytest.approx(0.009), 0)
    free = Machine(machine.compute, FREE, waits={"star": 0.25})
    assert free.parts(net, "star", True, 2, 7)[1] == 0.75, (
        "the first message after computing is late, once"
    )
    assert [free.parts(net, "ring", bucket, 2, 7)[1] for bucket in (True, False)] == [0.5, 0]


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
