"""Each claim's rule against two numbers that were typed by hand from its sentence."""

import csv

import pytest

from lab.claims.ledger import ledger
from lab.claims.rules import Estimate, Over, Verdict, decide
from tests.helpers import ROOT

with (ROOT / "tests" / "claims_by_hand.csv").open() as table:
    BY_HAND = {row["claim"]: row for row in csv.DictReader(table)}


def certain(number: float) -> Estimate:
    """An estimate whose interval is the number itself."""
    return Estimate(number, number, number, 0.992, 8, Over.STARTS)


def test_every_claim_has_its_two_numbers():
    assert set(BY_HAND) == {claim.id for claim in ledger()}, "tests/claims_by_hand.csv"


@pytest.mark.parametrize("claim", ledger(), ids=lambda claim: claim.id)
def test_a_sentence_holds_and_fails_where_its_words_say(claim):
    confirms, refutes = (float(BY_HAND[claim.id][column]) for column in ("confirms", "refutes"))
    holds = claim.rule.holds
    assert decide(certain(confirms), holds) is Verdict.CONFIRMED, f"{confirms} {claim.rule.unit}"
    assert decide(certain(refutes), holds) is Verdict.REFUTED, f"{refutes} {claim.rule.unit}"
    both = Estimate(confirms, min(confirms, refutes), max(confirms, refutes), 0.992, 8, Over.STARTS)
    assert decide(both, holds) is Verdict.INCONCLUSIVE
