"""The rules of the claims about training runs."""

from stages.train import claims
from tests.claim_cases import CONFIRMED, REFUTED, check_made_up, check_rules


def test_each_rule_gives_each_verdict_that_it_can():
    check_rules(
        "train",
        {},
        {claims.median_gap: lambda low, high: ([0.5 + low / 100, 0.5 + high / 100], [0.5, 0.5])},
    )


def test_made_up_results_come_to_the_verdict_and_the_number_that_they_were_made_for():
    check_made_up(
        "train",
        {
            "D11": (CONFIRMED, 84),
            "D12a": (CONFIRMED, 0),
            "E4": (REFUTED, 84),
            "E5a": (CONFIRMED, 2),
            "E5b": (CONFIRMED, 0),
        },
    )
