"""The rules of the claims about training runs."""

import pytest

from lab.claims.verdicts import judge
from stages.train.page import claims
from tests import made_up
from tests.claim_cases import BY_ID, INCONCLUSIVE


def test_the_accuracy_of_one_run_is_one_seed_and_decides_nothing():
    """Made-up runs of the notes end at 84 %; however far that is from 91, one seed is no proof."""
    expected = {"E4": 0.84, "E5b": 0.0}
    assert set(expected) == {claim.id for claim in claims.CLAIMS}
    for claim_id, number in expected.items():
        found = judge(BY_ID[claim_id], made_up.evidence("train"))
        assert found.verdict is INCONCLUSIVE, found.reason
        assert found.estimate is not None
        assert (found.estimate.value, found.estimate.count) == (pytest.approx(number), 1)
