import pytest

from lab.claims.rules import Estimate, Over, Verdict
from lab.results.curves import rows_of
from stages.schedules.__main__ import summarise
from stages.schedules.measure import names
from stages.schedules.page import claims
from tests.helpers import verdicts
from tests.stages.schedules.made_up import schedule_curves


def test_nets_are_compared_over_their_common_seeds():
    found = claims.ratio_of_common_seeds([2.0, 4.0, 6.0, 100.0], [1.0, 1.0, 1.0])
    assert found == Estimate(4, 2, 6, 0.75, 3, Over.SEEDS)
    assert found.level == pytest.approx(0.75)


def test_net_that_was_not_trained_is_not_judged():
    made = schedule_curves({names.LENET: (2.0, 1.0)})
    metrics = {"dataset": "fashion-mnist", **summarise(made)}
    found = verdicts(claims.CLAIMS, "schedules", metrics, rows_of(made))
    assert found["F20b"] is Verdict.REFUTED
    assert found["F20g"] is Verdict.NOT_TESTABLE
