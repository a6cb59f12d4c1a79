"""All-reduces behind a computation: through what was measured, and what must hold in between."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lab.results.measurements import Measurement, Results
from stages.scaling.measure import names
from stages.scaling.measure.late_sums import LateSums, at, fit_late_sums

SUMS = LateSums({1.0: {1: 2.0, 4: 6.0}, 9.0: {1: 4.0, 4: 10.0}}, {100: 0, 1000: 0.9, 10_000: 5.4})


def test_lists_that_were_measured_take_what_was_measured():
    assert SUMS.ms([100], 1.0) == 2.0
    assert SUMS.ms([100] * 4, 9.0) == 10.0
    assert SUMS.ms([1000] * 4, 1.0) == pytest.approx(6 + 4 * 0.9)


def test_between_them_lines_are_drawn_for_computations_over_their_logarithm():
    assert SUMS.ms([100, 100], 1.0) == pytest.approx(2 + 4 / 3), "a third of the way to four"
    assert SUMS.ms([100], 3.0) == pytest.approx(3.0), "three lie halfway between one and nine"
    assert SUMS.ms([5500], 1.0) == pytest.approx(2 + (0.9 + 5.4) / 2)


def test_outside_counts_and_computations_stay_and_bytes_go_on():
    assert SUMS.ms([100] * 99, 20.0) == 10.0
    assert SUMS.ms([100], 0.1) == 2.0
    assert SUMS.ms([50], 1.0) == 2.0
    assert SUMS.ms([19_000], 1.0) == pytest.approx(2 + 5.4 + 4.5)


@given(st.dictionaries(st.floats(0, 100), st.floats(-10, 10), min_size=2), st.floats(0, 100))
def test_a_line_stays_between_its_points(line, x):
    assert min(line.values()) <= at(x, line) <= max(line.values())
    for point, y in line.items():
        assert at(point, line) == pytest.approx(y)


def test_the_fit_takes_computing_away_and_never_goes_below_zero():
    def ms(demo: str, arm: str, x: float, value: float) -> Measurement:
        return Measurement(demo, arm, x, (value,), "ms", "cpu-virtual")

    def behind(net: str, count: int, size: float, value: float) -> Measurement:
        return ms(names.behind(net, 8), names.tensors("star", count), size, value)

    results = Results(
        [
            ms(names.ALONE, "lenet", 8, 10.0),
            ms(names.ALONE, "resnet18", 8, 50.0),
            behind("lenet", 1, 4, 12.0),
            behind("lenet", 6, 4, 16.0),
            behind("resnet18", 1, 4, 49.0),  # noise: computing alone was slower
            behind("resnet18", 6, 4, 53.0),
            behind("resnet18", 6, 4000, 59.0),  # three of them, and three short ones
            ms(names.behind("lenet", 8), names.tensors("ring", 1), 4, 99.0),
        ]
    )
    fitted = fit_late_sums(results, "star")
    assert fitted.short_ms == {10.0: {1: 2.0, 6: 6.0}, 50.0: {1: 0.0, 6: 3.0}}
    assert fitted.longer_ms == {4: 0.0, 4000: 2.0}
    assert fitted.ms([4000], 50.0) == 2.0
    assert math.isclose(fitted.ms([4] * 6, 10.0), 6.0)
