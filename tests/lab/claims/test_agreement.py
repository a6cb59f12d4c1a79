"""Whole runs agree if their intervals explain how they differ."""

import numpy as np

from lab.claims.agreement import agree, agreement_of
from lab.claims.rules import Verdict, median, point
from lab.claims.verdicts import Finding
from tests.claim_cases import BY_ID, CONFIRMED, INCONCLUSIVE, NOT_TESTABLE, REFUTED


def finding(claim_id: str, verdict: Verdict, *samples: float) -> Finding:
    estimate = median(samples) if samples else None
    return Finding(BY_ID[claim_id], verdict, estimate, "cpu", "")


def test_only_what_both_runs_decide_is_a_pair():
    eight = [1.0] * 8
    runs = [
        [finding("A6a", CONFIRMED, *eight), finding("A4", INCONCLUSIVE, 1, 2, 3)],
        [finding("A6a", REFUTED, *eight), finding("A4", CONFIRMED, *eight)],
        [finding("A6a", NOT_TESTABLE)],
    ]
    [pair] = agreement_of(runs).pairs
    assert pair.one.claim.id == "A6a"
    assert pair.contradicts
    assert pair.agrees


def test_runs_of_one_machine_agree_about_as_often_as_their_level_says():
    """Pairs of runs of 8 starts, of one median and of another that is five spreads away."""
    starts = np.random.default_rng(0).lognormal(0, 0.05, (600, 2, 8))
    same = [agree(median(one), median(other)) for one, other in starts]
    assert np.mean(same) >= 0.97
    moved = [agree(median(one), median(1.3 * other)) for one, other in starts]
    assert np.mean(moved) <= 0.03
    assert agree(point(2), point(2))
    assert not agree(point(2), point(2.1)), "what is computed the same way each time"
    assert not agree(None, point(2))
