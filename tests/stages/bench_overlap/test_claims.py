"""The rules of the claims about copying beside computing."""

from tests.claim_cases import CONFIRMED, REFUTED, check_made_up, check_rules


def test_each_rule_gives_each_verdict_that_it_can():
    check_rules("bench_overlap", {})


def test_made_up_results_come_to_the_verdict_and_the_number_that_they_were_made_for():
    check_made_up("bench_overlap", {"C4": (CONFIRMED, 80 / 44), "C5": (REFUTED, 0)})
