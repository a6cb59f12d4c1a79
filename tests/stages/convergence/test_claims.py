"""The rules of the claims about batch size and convergence, and their verdicts on made-up runs."""

from lab.results.curves import rows_of
from stages.convergence.__main__ import summarise
from stages.convergence.claims import CLAIMS, median_epochs_ratio
from stages.convergence.names import FIXED, LINEAR, WARM_UP
from tests.claim_cases import CONFIRMED, INCONCLUSIVE, NOT_TESTABLE, REFUTED, check_rules
from tests.helpers import verdicts
from tests.stages.convergence.made_up import CONVERGENCE, SEED_EPOCHS, convergence_curves

SLOW, FAST = ((1, 4), (2, 8), (1, 4)), ((1, 1), (2, 2), (1, 1))
EITHER = ((1, 1), (2, 8), (1, 2))


def of(seed_epochs, dataset="fashion-mnist"):
    curves = convergence_curves(SEED_EPOCHS | seed_epochs)
    metrics = {"dataset": dataset} | summarise(curves, CONVERGENCE)
    return verdicts(CLAIMS, "convergence", metrics, rows_of(curves))


def test_each_rule_gives_each_verdict_that_it_can():
    check_rules("convergence", {}, {median_epochs_ratio: lambda low, high: ([low, high], [1, 1])})


def test_large_batches_that_cost_epochs_and_such_that_do_not():
    ids = ("G11a", "G11b", "D2a")
    for fixed, linear, verdict in (
        (SLOW, FAST, CONFIRMED),
        (FAST, SLOW, REFUTED),
        (EITHER, EITHER, INCONCLUSIVE),
    ):
        found = of({FIXED: fixed, LINEAR: linear, WARM_UP: fixed})
        assert found == dict.fromkeys(ids, verdict)


def test_what_cannot_be_decided():
    assert of({})["D2a"] is NOT_TESTABLE, "a run of batch 256 did not reach the target"
    assert set(of({}, dataset="synthetic").values()) == {NOT_TESTABLE}
