"""The scaling predictor: a step is its parts, one after the other."""

import pytest

from lab.parallel.cost_model import Link
from stages.scaling.predictor import Compute, Machine, Network, fit_compute

NET = Network(num_tensors=8, num_bytes=1_000_000)
FREE = Link(0, 0)


def test_compute_is_a_line_whose_fixed_time_is_not_negative():
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
