"""Verdicts and values of findings match those worked out in tests/*_by_hand.yaml."""

from collections.abc import Iterator, Mapping, Sequence

import numpy as np
import pytest
from ruamel.yaml import YAML

from lab.claims.claim import Claim, Kind
from lab.claims.ledger import ledger
from lab.claims.rules import Verdict, decide
from lab.results.derived import derivation_of
from lab.results.findings import Finding, Samples
from lab.results.measurements import Cell, Measurement, Results, by_seed
from lab.results.reasons import Reason
from tests.helpers import ROOT, claim_of

TABLE, TOLD = (
    YAML(typ="safe").load(ROOT / "tests" / f"{name}_by_hand.yaml") for name in ("claims", "told")
)
EXACT, VARIES = TABLE["exact"], TABLE["varies"]
SAMPLES = 8  # enough to decide

Values = float | Sequence[float]


def parts(label: str) -> tuple[str, ...]:
    """Split a label of the table into experiment, variant and columns, sorted."""
    return tuple(sorted(as_text(part) for part in label.split("/")))


def as_text(part: object) -> str:
    try:
        return f"{float(str(part)):g}"
    except ValueError:
        return str(part)


class ByHand(Results):
    """Results of one column of the table, each number repeated `samples` times."""

    def __init__(self, lines: Mapping[str, Values | Sequence[Values]], samples: int) -> None:
        super().__init__([])
        self.lines = {
            parts(label): tuple(
                float(row)
                for row in (numbers if isinstance(numbers, list) else [numbers])
                for _ in range(samples)
            )
            for label, numbers in lines.items()
        }

    def samples(
        self, experiment: str, variant: str, x: float | None = None, **columns: Cell
    ) -> Samples:
        named = "/".join(map(str, [experiment, variant, *columns.values()]))
        of_x = self.lines.get(parts(named) if x is None else parts(f"{named}/{x}"))
        if of_x is not None:
            return Samples(of_x)
        found, xs = self.lines.get(parts(named)), self.lines.get(parts(f"{named} (x)"))
        if found is None or (x is not None and xs is None):
            return Samples(missing=Reason("not in the table", f"{named}, x {x}"))
        if x is None or xs is None:
            return Samples(found)
        return Samples(tuple(y for at, y in zip(xs, found, strict=True) if at == x))

    def xs(self, experiment: str, variant: str, **columns: Cell) -> list[float]:
        named = "/".join(map(str, [experiment, variant, *columns.values()]))
        return sorted(set(self.lines.get(parts(f"{named} (x)"), [])))


def found(claim: Claim, results: Results) -> list[Finding]:
    """Return the findings that decide a claim, one per case."""
    findings = derivation_of(claim.stage).findings(results)
    return [findings[name] for name in claim.deciding]


def results(claim_id: str) -> list[list[Finding]]:
    """Return the deciding findings of each column of a claim's table."""
    table, samples = (EXACT, 1) if claim_id in EXACT else (VARIES, SAMPLES)
    lines = table[claim_id]
    columns = (dict(zip(lines, each, strict=True)) for each in zip(*lines.values(), strict=True))
    return [found(claim_of(claim_id), ByHand(each, samples)) for each in columns]


def half_of_both(lines: Mapping[str, Sequence[Values]]) -> Results:
    """Take samples alternately from the first two results."""
    of = [{name: each[i] for name, each in lines.items()} for i in (0, 1)]
    mixed, other = (ByHand(each, SAMPLES) for each in of)
    for name, one in mixed.lines.items():
        pairs = enumerate(zip(one, other.lines[name], strict=True))
        mixed.lines[name] = tuple(pair[i % 2] for i, pair in pairs)
    return mixed


def test_table_has_every_claim_of_the_notes_once():
    """Our own questions may have rows as well."""
    named = [*EXACT, *VARIES]
    assert len(named) == len(set(named))
    assert set(named) <= {claim.id for claim in ledger()}
    assert {claim.id for claim in ledger() if claim.kind is not Kind.OURS} <= set(named)


@pytest.mark.parametrize("claim_id", [*EXACT, *VARIES])
def test_first_result_confirms_and_others_refute(claim_id):
    holds = claim_of(claim_id).holds
    confirming, *refuting = results(claim_id)
    for finding in confirming:
        assert not finding.missing
        assert finding.exact == (claim_id in EXACT)
        assert decide(finding, holds) is Verdict.CONFIRMED, finding
    assert refuting
    for finding in (each for result in refuting for each in result):
        assert decide(finding, holds) is Verdict.REFUTED, finding


@pytest.mark.parametrize("claim_id", VARIES)
def test_half_of_each_of_two_results_is_inconclusive(claim_id):
    claim = claim_of(claim_id)
    for mixed in found(claim, half_of_both(VARIES[claim_id])):
        assert decide(mixed, claim.holds) is Verdict.INCONCLUSIVE, mixed


def told(stage: str) -> Mapping[str, Finding]:
    """Return a stage's findings, derived from its rows in the table."""
    rows = [
        row
        for experiment, variants in TOLD[stage]["rows"].items()
        for label, held in variants.items()
        for row in rows_of(experiment, label, held)
    ]
    conditions = TOLD[stage].get("conditions", {})
    return derivation_of(stage).findings(Results(rows, conditions))


def rows_of(
    experiment: str, label: str, held: Values | Mapping[float, Values]
) -> Iterator[Measurement]:
    """Yield a variant's measurements, one per x (0 if the table names none)."""
    variant, *columns = label.split("/")
    cells = {name: as_cell(text) for name, text in (each.split("=") for each in columns)}
    for x, numbers in (held if isinstance(held, Mapping) else {0: held}).items():
        yield by_seed(experiment, variant, np.atleast_1d(numbers), x, **cells)


def as_cell(text: str) -> Cell:
    """Convert text to the cell that a file of rows would hold."""
    try:
        return float(text)
    except ValueError:
        return text


@pytest.mark.parametrize("stage", TOLD)
def test_findings_have_the_values_worked_out_by_hand(stage):
    found, by_hand = told(stage), TOLD[stage]["findings"]
    assert {name: found[name].value for name in by_hand} == pytest.approx(by_hand)


@pytest.mark.parametrize("stage", TOLD)
def test_every_finding_is_in_one_of_the_tables(stage):
    claims = map(claim_of, [*EXACT, *VARIES])
    judged = {name for claim in claims if claim.stage == stage for name in claim.deciding}
    lacking = told(stage).keys() - judged - TOLD[stage]["findings"].keys()
    assert not lacking, f"tests/told_by_hand.yaml has no value of {stage}'s {sorted(lacking)}"
