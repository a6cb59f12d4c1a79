import pytest

from lab.claims.evidence import Evidence
from lab.claims.rules import Verdict
from lab.claims.verdicts import judge
from stages.bench_overlap.measure import names
from tests.helpers import claim_of
from tests.launch_bound import verdicts


def test_launch_bound_products_are_not_testable():
    """What Python launches one after the other overlaps with nothing, whatever a GPU could do."""
    no_overlap = {(names.TIMES, names.TWO_STREAMS): 80.0, (names.OVERLAP, names.TWO_STREAMS): 0.0}
    claims = ("C4", "C4b", "C5")
    assert verdicts("bench_overlap", no_overlap, 50, *claims) == [Verdict.REFUTED] * 3
    assert verdicts("bench_overlap", no_overlap, 1.3, *claims) == [Verdict.NOT_TESTABLE] * 3


@pytest.mark.parametrize("workload", [names.BALANCED, names.OWN])
def test_printed_numbers_need_the_notes_sizes(workload):
    metrics = {"device_kind": "cuda", names.WORKLOAD: workload}
    for claim in ("C4d", "C5d"):
        found = judge(claim_of(claim), Evidence({"bench_overlap": metrics}, {}))
        assert found.verdict is Verdict.NOT_TESTABLE
        assert "50 products of 4000 rows" in found.reason
