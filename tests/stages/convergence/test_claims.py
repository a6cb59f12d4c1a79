"""The rules of the claims about batch size and convergence, and their verdicts on made-up runs."""

import pytest

from lab.claims.evidence import NotTestableError
from lab.claims.rules import Estimate, Over
from lab.results.curves import rows_of
from stages.convergence.__main__ import summarise
from stages.convergence.measure.names import (
    FIXED,
    LARS,
    LENET,
    MOMENTUM,
    ROOT,
    SCALED,
    TUNED_BATCH,
    at_batch,
    of_net,
)
from stages.convergence.page.claims import CLAIMS, share_of_epochs
from tests.claim_cases import CONFIRMED, INCONCLUSIVE, NOT_TESTABLE, REFUTED
from tests.helpers import verdicts
from tests.stages.convergence.made_up import (
    CAP,
    CONVERGENCE,
    WITH_RESNET18,
    convergence_curves,
    resnet18_curves,
)

ALL, NONE = [1.0] * 8, [0.0] * 8


def judged(curves, params, **metrics):
    found = {"dataset": "fashion-mnist", **summarise(curves, params), **metrics}
    return verdicts(CLAIMS, "convergence", found, rows_of(curves))


def of(changes, **metrics):
    return judged(convergence_curves(changes), CONVERGENCE, **metrics)


def test_a_run_that_was_cut_bounds_its_share_from_above_only():
    few = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0]
    found = share_of_epochs(few, ALL, [10.0] * 8, ALL)
    assert found == Estimate(45, 10, 80, found.level, 8, Over.SEEDS)
    cut = share_of_epochs(few, ALL, [10.0] * 8, NONE)
    assert (cut.value, cut.low, cut.high) == (45, 0, 80)
    with pytest.raises(NotTestableError, match=r"2 of 8 runs .* raise its max_epochs in"):
        share_of_epochs(few, [1.0] * 6 + [0.0] * 2, [10.0] * 8, ALL)


def test_made_up_runs_come_to_their_verdicts():
    assert of({}) == {
        "G11a": CONFIRMED,
        "G11b": CONFIRMED,
        "G11c": NOT_TESTABLE,
        "D2a": CONFIRMED,
        "D2e": CONFIRMED,
        "G12c": CONFIRMED,
        "G12d": CONFIRMED,
        "G12k": CONFIRMED,
        "G12m": NOT_TESTABLE,
        "G13c": CONFIRMED,
    }
    same = {
        at_batch(arm, n): [2.0] * 8 for arm in (FIXED, SCALED, ROOT, MOMENTUM) for n in (64, 256)
    }
    same |= {at_batch(arm, 4096): [2.0] * 8 for arm in (MOMENTUM, LARS)}
    found = of(same)
    assert [found[each] for each in ("G11a", "G11b", "D2a", "D2e", "G12k")] == [REFUTED] * 5


def test_the_cap_confirms_only_from_the_side_that_it_bounds():
    reached_late = {at_batch(FIXED, 256): [CAP] * 8}
    assert of(reached_late)["G11a"] is CONFIRMED, "all of them need more than the budget"
    cut_at_once = {at_batch(FIXED, 64): [7.95] * 8, at_batch(FIXED, 256): [CAP] * 8}
    assert of(cut_at_once)["G11a"] is INCONCLUSIVE, "how much more is not known"
    assert of({at_batch(FIXED, 64): [CAP] * 8})["G11a"] is NOT_TESTABLE


def test_resnet18_has_verdicts_of_its_own():
    def found(changes):
        curves = [*convergence_curves(), *resnet18_curves(changes)]
        verdicts = judged(curves, WITH_RESNET18)
        return verdicts["G11c"], verdicts["G12m"], verdicts["G11b"]

    assert found({}) == (CONFIRMED, CONFIRMED, CONFIRMED)
    same = {at_batch(arm, 4096): [0.5] * 8 for arm in (MOMENTUM, LARS)}
    assert found(same) == (REFUTED, REFUTED, CONFIRMED), "LeNet's runs are as before"


def test_what_was_not_trained_is_not_judged():
    found = of({}, **{of_net(TUNED_BATCH, LENET): 0})
    assert (found["G11b"], found["G12k"]) == (NOT_TESTABLE, NOT_TESTABLE)
    synthetic = of({}, dataset="synthetic")
    assert {k for k, v in synthetic.items() if v is not NOT_TESTABLE} == {"G12d"}
