import pytest

from lab.claims.evidence import NotTestableError
from lab.claims.rules import Estimate, Over, Verdict, at_most, decide
from lab.results.curves import rows_of
from stages.convergence.__main__ import summarise
from stages.convergence.measure.names import LENET, TUNED_BATCH, of_net
from stages.convergence.page.claims import CLAIMS, share_of_epochs
from tests.helpers import verdicts
from tests.stages.convergence.made_up import CONVERGENCE, convergence_curves

REACHED, CUT = [1.0] * 8, [0.0] * 8
BUDGET = [10.0] * 8


def test_cut_run_bounds_its_share_from_above():
    few = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0]
    found = share_of_epochs(few, REACHED, BUDGET, REACHED)
    assert found == Estimate(45, 10, 80, found.level, 8, Over.SEEDS)
    cut = share_of_epochs(few, REACHED, BUDGET, CUT)
    assert (cut.value, cut.low, cut.high) == (45, 0, 80)
    with pytest.raises(NotTestableError, match="2 of 8"):
        share_of_epochs(few, [1.0] * 6 + [0.0] * 2, BUDGET, REACHED)


def test_cut_runs_can_confirm_but_not_refute():
    fewer = at_most(98)
    early = share_of_epochs([5.0] * 8, REACHED, BUDGET, CUT)
    assert decide(early, fewer) is Verdict.CONFIRMED
    late = share_of_epochs([9.95] * 8, REACHED, BUDGET, CUT)
    assert decide(late, fewer) is Verdict.INCONCLUSIVE, "how much more the other needs is not known"


def judged(**metrics):
    curves = convergence_curves()
    found = {"dataset": "fashion-mnist", **summarise(curves, CONVERGENCE), **metrics}
    return verdicts(CLAIMS, "convergence", found, rows_of(curves))


def test_what_was_not_trained_is_not_judged():
    untuned = judged(**{of_net(TUNED_BATCH, LENET): 0})
    assert untuned["G11a"] is Verdict.CONFIRMED
    assert untuned["G11b"] is Verdict.NOT_TESTABLE
    synthetic = judged(dataset="synthetic")
    assert synthetic["G11a"] is Verdict.NOT_TESTABLE
    assert synthetic["G12d"] is Verdict.CONFIRMED, "times need no real data"
