"""The step model: a step is its parts, one after the other."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lab.parallel.cost_model import Link
from lab.results.measurements import Measurement, Results
from stages.scaling.measure.step_model import Compute, Machine, Network, fit_compute, fit_late_sums

NET = Network(num_tensors=8, num_bytes=1_000_000)
FREE = Link(0, 0)


def test_compute_is_a_line_whose_fixed_time_is_not_negative():
    assert fit_compute({4: 0.006, 16: 0.018}) == Compute(pytest.approx(0.002), pytest.approx(0.001))
    assert fit_compute({4: 0.001, 16: 0.018}).fixed_s == 0


@given(st.dictionaries(st.integers(1, 4), st.floats(1e-4, 10), min_size=2))
def test_whatever_is_measured_more_images_take_longer(seconds):
    compute = fit_compute(seconds)
    assert compute.fixed_s >= 0
    assert 0 < compute.seconds(1) < compute.seconds(256)


def test_a_step_is_its_parts_one_after_the_other():
    machine = Machine(Compute(0.002, 0.001), Link(1e-3, 1e-8))
    assert machine.parts(NET, "star", False, 2, 10) == pytest.approx(
        (0.012, 2 * 8 * 1e-3 + 2 * 1e6 * 1e-8)
    )
    assert machine.parts(NET, "ring", True, 4, 10) == pytest.approx((0.012, 6e-3 + 1.5 * 1e-2))


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


def test_the_fit_takes_computing_away_and_never_goes_below_zero():
    def ms(experiment: str, variant: str, x: float, value: float, **columns) -> Measurement:
        return Measurement(experiment, variant, x, (value,), "ms", "cpu-virtual", columns=columns)

    def behind(net: str, count: int, size: float, value: float, name="star") -> Measurement:
        return ms("behind computing", name, size, value, net=net, images=8, tensors=count)

    results = Results(
        [
            ms("without communication", "lenet", 8, 10.0),
            ms("without communication", "resnet18", 8, 50.0),
            behind("lenet", 1, 4, 12.0),
            behind("lenet", 6, 4, 16.0),
            behind("resnet18", 1, 4, 49.0),  # noise: computing alone was slower
            behind("resnet18", 6, 4, 53.0),
            behind("resnet18", 6, 4000, 59.0),  # three of them, and three short ones
            behind("lenet", 1, 4, 99.0, "ring"),
        ]
    )
    fitted = fit_late_sums(results, "star")
    assert fitted.short_ms == {10.0: {1: 2.0, 6: 6.0}, 50.0: {1: 0.0, 6: 3.0}}
    assert fitted.longer_ms == {4: 0.0, 4000: 2.0}
    assert fitted.ms([4000], 50.0) == 2.0
    assert math.isclose(fitted.ms([4] * 6, 10.0), 6.0)
