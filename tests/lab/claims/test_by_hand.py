"""Each claim's rule gives the verdicts that tests/claims_by_hand.yaml asks for."""

from collections.abc import Sequence

import pytest
from ruamel.yaml import YAML

from lab.claims.evidence import Metric, Read
from lab.claims.ledger import ledger
from lab.claims.rules import Estimate, Verdict, decide
from lab.claims.verdicts import Claim, Kind
from tests.helpers import ROOT, claim_of

TABLE = YAML(typ="safe").load(ROOT / "tests" / "claims_by_hand.yaml")
EXACT, VARIES = TABLE["exact"], TABLE["varies"]
SAMPLES = 8  # the fewest that decide

Values = float | Sequence[float]


def label(read: Read) -> str:
    """The table's word for a metric or a column."""
    if isinstance(read, Metric):
        return read.name
    _, *run = read.folder.split("/")
    name = "/".join([*run, *read.where.values()])
    return name if read.name in ("value", "y") else f"{name} ({read.name})"


def values(read: Read, numbers: float | list[float], samples: int) -> Values:
    """What a rule gets for a cell of the table."""
    if isinstance(read, Metric):
        return numbers
    rows = numbers if isinstance(numbers, list) else [numbers]
    return [row for row in rows for _ in range(samples)]


def results(claim: Claim) -> list[list[Values]]:
    """Each result of a claim's table, in the order in which the rule reads it."""
    table, samples = (EXACT, 1) if claim.id in EXACT else (VARIES, SAMPLES)
    lines = table[claim.id]
    assert set(lines) == {label(read) for read in claim.rule.reads}
    columns = [[values(read, n, samples) for n in lines[label(read)]] for read in claim.rule.reads]
    return [list(result) for result in zip(*columns, strict=True)]


def half_of_each(read: Read, one: Values, other: Values) -> Values:
    """Every other sample; of a metric that ends an interval, the outer end."""
    if not isinstance(read, Metric):
        return [pair[i % 2] for i, pair in enumerate(zip(one, other, strict=True))]
    outer = {"low": min, "high": max}.get(read.name.rpartition("_")[2])
    return outer(one, other) if outer else one


def verdict(claim: Claim, estimate: Estimate) -> Verdict:
    return decide(estimate, claim.rule.holds)


def test_table_has_every_claim_of_the_notes_once():
    """A question of one's own may have rows in it, too."""
    found = [*EXACT, *VARIES]
    assert len(found) == len(set(found))
    assert set(found) <= {claim.id for claim in ledger()}
    assert {claim.id for claim in ledger() if claim.kind is not Kind.ASKED} <= set(found)


@pytest.mark.parametrize("claim_id", [*EXACT, *VARIES])
def test_first_result_confirms_and_others_refute(claim_id):
    claim = claim_of(claim_id)
    confirming, *refuting = [claim.rule.estimate(*result) for result in results(claim)]
    assert confirming.exact == (claim_id in EXACT)
    assert verdict(claim, confirming) is Verdict.CONFIRMED, confirming
    assert refuting
    for estimate in refuting:
        assert verdict(claim, estimate) is Verdict.REFUTED, estimate


@pytest.mark.parametrize("claim_id", VARIES)
def test_half_of_both_is_inconclusive(claim_id):
    claim = claim_of(claim_id)
    pairs = zip(claim.rule.reads, *results(claim)[:2], strict=True)
    mixed = claim.rule.estimate(*[half_of_each(*each) for each in pairs])
    assert verdict(claim, mixed) is Verdict.INCONCLUSIVE, mixed
