"""The rules of the claims about copying beside computing."""

from lab.claims.evidence import Evidence
from lab.claims.verdicts import judge
from stages.bench_overlap.measure import names
from tests.claim_cases import BY_ID, CONFIRMED, NOT_TESTABLE, REFUTED, check_made_up
from tests.launch_bound import verdicts


def test_products_that_launching_takes_as_long_as_computing_decide_nothing():
    """What Python launches one after the other overlaps with nothing, whatever a GPU could do."""
    no_overlap = {(names.TIMES, names.TWO_STREAMS): 80.0, (names.OVERLAP, names.TWO_STREAMS): 0.0}
    claims = ("C4", "C4b", "C5")
    assert verdicts("bench_overlap", no_overlap, 50, *claims) == [REFUTED] * 3
    assert verdicts("bench_overlap", no_overlap, 1.3, *claims) == [NOT_TESTABLE] * 3
    assert verdicts("bench_overlap", {}, 1.3, "C4c", "C5c") == [NOT_TESTABLE, CONFIRMED]


def test_made_up_results_come_to_the_verdict_and_the_number_that_they_were_made_for():
    check_made_up(
        "bench_overlap",
        {
            "C4": (CONFIRMED, 80 / 44),
            "C4b": (CONFIRMED, 0.9),
            "C4c": (CONFIRMED, 0.1),
            "C4d": (CONFIRMED, 5),
            "C5": (REFUTED, 0),
            "C5b": (CONFIRMED, 0.1),
            "C5c": (CONFIRMED, 2),
            "C5d": (REFUTED, 240 / 100),
        },
    )


def test_the_printed_numbers_are_testable_at_the_notes_sizes_alone():
    for workload in (names.BALANCED, names.OWN):
        metrics = {"device_kind": "cuda", names.WORKLOAD: workload}
        found = Evidence({"bench_overlap": metrics}, {})
        for claim in ("C4d", "C5d"):
            reason = judge(BY_ID[claim], found).reason
            assert "the notes' 50 products of 4000 rows" in reason, claim
