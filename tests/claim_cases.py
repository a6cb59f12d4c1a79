"""The verdicts that made-up results of a stage come to."""

from collections.abc import Mapping

import pytest

from lab.claims.ledger import ledger
from lab.claims.rules import Verdict
from lab.claims.verdicts import judge
from tests import made_up

CONFIRMED, REFUTED, INCONCLUSIVE, NOT_TESTABLE = Verdict
BY_ID = {claim.id: claim for claim in ledger()}


def check_made_up(stage: str, expected: Mapping[str, tuple[Verdict, float]]) -> None:
    """The made-up results of a server come to these verdicts and numbers."""
    for claim_id, (verdict, number) in expected.items():
        found = judge(BY_ID[claim_id], made_up.evidence(stage))
        assert found.estimate is not None, found.reason
        assert (found.verdict, found.estimate.value) == (
            verdict,
            pytest.approx(number, rel=3e-3, abs=1e-9),
        ), claim_id
