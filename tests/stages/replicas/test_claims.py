from lab.claims.rules import Verdict
from lab.results.curves import rows_of
from stages.replicas.page.claims import CLAIMS
from tests.helpers import verdicts
from tests.stages.replicas.made_up import PARAMS, replicas_curves, replicas_metrics


def of(curves, params=PARAMS):
    return verdicts(CLAIMS, "replicas", replicas_metrics(curves, params), rows_of(curves))


def test_three_seeds_decide_nothing():
    found = of(replicas_curves(seeds=range(3)))
    assert found["D12a"] is Verdict.INCONCLUSIVE
    assert found["D12b"] is Verdict.CONFIRMED, "weights are compared exactly"


def test_other_recipe_says_nothing_of_the_notes():
    short = PARAMS.accuracy.model_copy(update={"num_epochs": 2})
    found = of(replicas_curves(), PARAMS.model_copy(update={"accuracy": short}))
    assert found["D12a"] is Verdict.NOT_TESTABLE
    assert found["D2b"] is Verdict.REFUTED, "batch norm has a recipe of its own"
