"""The contract of findings.py: raise nothing, derive once, cover claims and metrics.json."""

from collections import Counter
from math import isfinite

import pytest

from lab.claims.book_order import BOOK_ORDER
from lab.claims.ledger import ledger
from lab.core.files import METRICS, ROWS, read_json
from lab.results.derived import derivation_of, metrics_of
from lab.results.documents import read_results
from lab.results.measurements import Results
from stages.report import named
from tests.helpers import COMMITTED

FOLDERS = sorted(
    path.parent.relative_to(COMMITTED / "reports")
    for path in (COMMITTED / "reports").rglob(ROWS)
    if path.relative_to(COMMITTED / "reports").parts[0] in BOOK_ORDER
)
STAGES = sorted({folder.parts[0] for folder in FOLDERS})


@pytest.mark.parametrize("stage", STAGES)
def test_without_rows_every_finding_is_missing_and_nothing_raises(stage):
    found = derivation_of(stage).findings(Results([]))
    assert not any(found.values())
    assert all(each.missing for each in found.values())


@pytest.mark.parametrize("folder", FOLDERS, ids=str)
def test_committed_metrics_follow_from_the_rows(folder):
    derivation = derivation_of(folder.parts[0])
    found = derivation.findings(read_results(COMMITTED / "reports" / folder))
    assert all(each.consistent() for each in found.values() if each and isfinite(each.value))
    metrics = read_json(COMMITTED / "reports" / folder / METRICS)
    assert metrics == metrics_of(found, derivation.METRICS)
    assert metrics
    assert len(metrics) <= 5


def test_dvc_can_show_all_metrics_on_one_screen():
    """DVC splits keys at dots."""
    named = [name for folder in FOLDERS for name in derivation_of(folder.parts[0]).METRICS]
    assert len(named) <= 80
    assert not any("." in name for name in named)


@pytest.mark.parametrize("folder", FOLDERS, ids=str)
def test_no_derived_number_is_a_condition(folder):
    results = read_results(COMMITTED / "reports" / folder)
    found = derivation_of(folder.parts[0]).findings(results)
    assert not found.keys() & results.conditions.keys()
    assert not [name for name in results.conditions if name.endswith(("_low", "_high", "_iqr"))]


def test_every_claim_names_a_finding_of_its_stage():
    names = {
        stage: derivation_of(stage).findings(read_results(COMMITTED / "reports" / stage)).keys()
        for stage in {claim.stage for claim in ledger()}
    }
    unknown = [c.id for c in ledger() if set(c.deciding) - names[c.stage]]
    assert not unknown


@pytest.mark.parametrize("stage", sorted(set(STAGES) - {"train"}))  # its page has many runs
def test_a_page_derives_no_finding_again(stage):
    """A value on a page with the same number and interval as a finding was derived twice."""
    results = read_results(COMMITTED / "reports" / stage)
    found = derivation_of(stage).findings(results)
    beside = named.page_values(stage, results, found)
    assert not beside.keys() & found.keys()
    intervals = Counter((each.value, each.low, each.high) for each in found.values() if each)
    twice = [
        name
        for name, value in beside.items()
        if (getattr(value, "value", None), *(getattr(value, e, None) for e in ("low", "high")))
        in intervals
        and value not in found.values()
    ]
    assert not twice
