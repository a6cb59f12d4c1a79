"""The rules of the claims about schedules and warm-up."""

import pytest

from lab.claims.rules import Estimate, Over
from lab.results.curves import rows_of
from stages.schedules.__main__ import summarise
from stages.schedules.measure import names
from stages.schedules.page import claims
from tests.claim_cases import CONFIRMED, NOT_TESTABLE, REFUTED
from tests.helpers import verdicts
from tests.stages.schedules.made_up import RATES, schedule_curves


def test_two_nets_are_compared_over_the_seeds_that_both_have():
    found = claims.ratio_of_common_seeds([2.0, 4.0, 6.0, 100.0], [1.0, 1.0, 1.0])
    assert found == Estimate(4, 2, 6, 0.75, 3, Over.SEEDS)
    assert found.level == pytest.approx(0.75)


def of_nets(nets):
    made = schedule_curves(nets)
    metrics = {"dataset": "fashion-mnist", **summarise(made)}
    return verdicts(claims.CLAIMS, "schedules", metrics, rows_of(made))


def test_warm_up_is_judged_for_each_net_that_was_trained():
    both, one = of_nets(RATES), of_nets({names.LENET: (2.0, 1.0)})
    assert set(both.values()) == {CONFIRMED, REFUTED}
    assert [claim for claim, verdict in both.items() if verdict is REFUTED] == ["F20c"]
    assert (one["F20b"], one["F20d"]) == (REFUTED, REFUTED)
    assert {one[each] for each in ("F20f", "F20g", "F20h")} == {NOT_TESTABLE}
    same = of_nets({names.LENET: (2.0, 2.0), names.RESNET18: (2.0, 2.0)})
    assert {same[each] for each in ("F20b", "F20f", "F20g")} == {REFUTED}
