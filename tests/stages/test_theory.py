"""What the theory stages have in common: the same bits again, and how they end."""

import pytest

from lab.results.curves import Curve, rows_of
from stages.optimizers.measure.names import STEP_TIME
from tests import smallest
from tests.helpers import errors, run_stage


def without_times(curves: list[Curve]) -> list[Curve]:
    return [c for c in curves if c.demo != STEP_TIME]


def test_theory_repeats_bit_for_bit():
    for stage in smallest.STAGES:
        curves, metrics = smallest.results(stage)
        again, metrics_again = smallest.results.__wrapped__(stage)
        assert rows_of(without_times(again)) == rows_of(without_times(curves)), stage
        assert metrics_again == metrics, stage


@pytest.mark.parametrize("stage", ["optimizers", "schedules"])
def test_missing_data_end_a_theory_stage_with_code_3_and_the_command_that_fetches(project, stage):
    result = run_stage(f"stages.{stage}")
    assert result.returncode == 3
    assert "`dvc repro fetch` brings them" in errors(result)[0]
