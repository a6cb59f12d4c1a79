"""The rules of the claims about asynchronous calls."""

from tests.claim_cases import CONFIRMED, REFUTED, check_made_up, check_rules


def test_each_rule_gives_each_verdict_that_it_can():
    check_rules("bench_async", {"B4": {CONFIRMED: ([3, 3],), REFUTED: ([3, 4],)}})


def test_made_up_results_come_to_the_verdict_and_the_number_that_they_were_made_for():
    check_made_up(
        "bench_async",
        {
            "B1": (CONFIRMED, 40 / 0.2),
            "B2": (CONFIRMED, 20 / 0.2),
            "B3": (CONFIRMED, 0.01),
            "C2": (CONFIRMED, 49.9),
        },
    )
