from lab.claims.agreement import agreement_of
from lab.claims.rules import Verdict
from lab.claims.verdicts import NO_REASON, Judgement
from lab.results.diff import agree
from lab.results.findings import Samples, exact, median
from tests.helpers import claim_of

EIGHT = [1.0] * 8


def finding(claim_id: str, verdict: Verdict, *samples: float) -> Judgement:
    estimate = median(Samples(samples)) if samples else None
    return Judgement(claim_of(claim_id), verdict, estimate, "cpu", NO_REASON, "times as fast")


def test_only_what_both_runs_decide_is_a_pair():
    runs = [
        [finding("A6a", Verdict.CONFIRMED, *EIGHT), finding("A4", Verdict.INCONCLUSIVE, 1, 2, 3)],
        [finding("A6a", Verdict.REFUTED, *EIGHT), finding("A4", Verdict.CONFIRMED, *EIGHT)],
        [finding("A6a", Verdict.NOT_TESTABLE)],
    ]
    found = agreement_of(runs)
    [pair] = found.pairs
    assert pair.one.claim.id == "A6a"
    assert pair.agrees
    assert found.contradicted == ["A6a"]


def test_agreement_is_a_difference_within_the_intervals():
    """The two intervals, each half 3 wide, explain differences up to the square root of 18."""
    one = median(Samples((7, 10, 13)))
    assert agree(one, median(Samples((11.2, 14.2, 17.2))))
    assert not agree(one, median(Samples((11.3, 14.3, 17.3))))
    assert agree(exact(2), exact(2))
    assert not agree(exact(2), exact(2.1)), "exact numbers have no interval"
    assert not agree(None, exact(2))
