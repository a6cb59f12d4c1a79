"""Cases for the rules of a stage's claims: values of what they read, and the verdict due."""

import importlib
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pytest

from lab.claims.evidence import Column
from lab.claims.ledger import ledger
from lab.claims.rules import (
    MEDIAN,
    PAIRED_DIFFERENCE,
    PAIRED_RATIO,
    Estimate,
    Range,
    Rule,
    Verdict,
    decide,
    from_metrics,
    point,
)
from lab.claims.verdicts import Claim, judge
from tests import made_up

CONFIRMED, REFUTED, INCONCLUSIVE, NOT_TESTABLE = Verdict
BY_ID = {claim.id: claim for claim in ledger()}

Values = tuple[Any, ...]  # one for each read of a rule
Cases = Mapping[str, Mapping[Verdict, Values]]  # by the claim's id
Maker = Callable[[float, float], Values]  # values of which a rule makes the interval [low, high]


def _eight(low: float, high: float) -> list[float]:
    return [low] * 4 + [high] * 4  # samples enough for a verdict


MAKERS: dict[Callable[..., Estimate], Maker] = {
    point: lambda low, high: (low,),
    from_metrics: lambda low, high: ((low + high) / 2, low, high, 8),
    **{rule: lambda low, high: (_eight(low, high),) for rule in MEDIAN.values()},
    **{rule: lambda low, high: (_eight(low, high), [1] * 8) for rule in PAIRED_RATIO.values()},
    **{rule: lambda low, high: (_eight(low, high), [0] * 8) for rule in PAIRED_DIFFERENCE.values()},
}


def claims_of(stage: str) -> tuple[Claim, ...]:
    """The claims in a stage's claims.py."""
    found: tuple[Claim, ...] = importlib.import_module(f"stages.{stage}.page.claims").CLAIMS
    return found


def around(holds: Range) -> dict[Verdict, tuple[float, float]]:
    """An interval for each verdict, around an end of a range."""
    end = holds.low if math.isfinite(holds.low) else holds.high
    step = 0.005 * abs(end) or 0.5
    outward = -step if end == holds.low else step
    inside = end if holds.low == holds.high else end - outward
    return {
        CONFIRMED: (inside, inside),
        REFUTED: (end + outward, end + outward),
        INCONCLUSIVE: (end - step, end + step),
    }


def estimate(rule: Rule, values: Values) -> Estimate:
    """What a rule makes of values in the order of its reads; one number is a column of one row."""
    assert len(values) == len(rule.reads)
    read = zip(rule.reads, values, strict=True)
    return rule.estimate(
        *[(v,) if isinstance(r, Column) and not isinstance(v, Sequence) else v for r, v in read]
    )


def check_rules(
    stage: str, cases: Cases, makers: Mapping[Callable[..., Estimate], Maker] | None = None
) -> None:
    """Each claim's rule gives each verdict that it can, for `cases` or for the maker's values.

    A rule whose numbers have intervals must also have a case that is inconclusive.
    """
    known = MAKERS | dict(makers or {})
    claims = claims_of(stage)
    assert set(cases) <= {claim.id for claim in claims}
    for claim in claims:
        rule = claim.rule
        of_claim = cases.get(claim.id) or {
            verdict: known[rule.estimate](low, high)
            for verdict, (low, high) in around(rule.holds).items()
            if verdict is not INCONCLUSIVE or rule.estimate is not point
        }
        found = {verdict: estimate(rule, values) for verdict, values in of_claim.items()}
        wanted = {CONFIRMED, REFUTED} | ({INCONCLUSIVE} if rule.estimate is not point else set())
        if all(each.exact for each in found.values()):
            wanted -= {INCONCLUSIVE}
        assert set(found) == wanted, claim.id
        for verdict, each in found.items():
            assert decide(each, rule.holds) is verdict, f"{claim.id}: {each} for {rule.holds}"


def check_made_up(stage: str, expected: Mapping[str, tuple[Verdict, float]]) -> None:
    """The made-up results of a server come to these verdicts and numbers."""
    assert set(expected) <= {claim.id for claim in claims_of(stage)}
    for claim_id, (verdict, number) in expected.items():
        found = judge(BY_ID[claim_id], made_up.evidence(stage))
        assert found.estimate is not None, found.reason
        assert (found.verdict, found.estimate.value) == (
            verdict,
            pytest.approx(number, rel=3e-3, abs=1e-9),
        ), claim_id
