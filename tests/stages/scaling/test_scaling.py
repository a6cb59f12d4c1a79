"""What scaling derives from its rows, and what its claims ask of the devices."""

import pytest

from lab.claims.rules import Verdict
from lab.results.measurements import rows_of
from tests.helpers import verdicts
from tests.made_up import conditions_of, findings, measurements
from tests.stages.scaling.made_up import FLOOR, LONGER


def test_errors_are_those_of_the_prediction_and_the_floor_is_that_of_the_halves():
    found = findings("scaling", measurements("scaling", "cpu-virtual"), "cpu-virtual")
    too_short = pytest.approx(100 * (1 - 1 / LONGER), rel=1e-3)
    assert found["mean_error_percent"].value == too_short
    assert found["largest_error_percent"].value == too_short
    assert found["max_rule_mean_error_percent"].value > found["mean_error_percent"].value
    assert found["noise_floor_percent"].value == pytest.approx(FLOOR, rel=1e-3)


def test_shared_gpu_is_not_several_devices():
    made = measurements("scaling", "cpu-virtual")
    written = conditions_of("scaling", made, "cpu-virtual")
    found = verdicts("scaling", written, rows_of(made))
    assert [name for name in found if found[name] is Verdict.NOT_TESTABLE] == ["E5a"]
    shared = {**written, "device_kind": "cuda-shared"}
    found = verdicts("scaling", shared, rows_of(made))
    assert found["E5c"] is Verdict.NOT_TESTABLE
