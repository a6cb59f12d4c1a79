"""The rules of the claims about processors, memory and GPUs."""

import pytest

from lab.claims.evidence import NotTestableError
from stages.bench_hardware import claims
from tests.claim_cases import CONFIRMED, check_made_up, check_rules


def test_each_rule_gives_each_verdict_that_it_can():
    check_rules(
        "bench_hardware",
        {},
        {
            claims.most_over_least: lambda low, high: ([1, 1, 2, 2], [1, 1, low, high]),
            claims.over_the_most: lambda low, high: ([low, high], [1, 1, 2, 2], [9, 9, 1, 1]),
        },
    )


def test_made_up_results_come_to_the_verdict_and_the_number_that_they_were_made_for():
    check_made_up(
        "bench_hardware",
        {
            "G1": (CONFIRMED, 150),
            "G2": (CONFIRMED, 8),
            "G3": (CONFIRMED, 10),
            "G4a": (CONFIRMED, 50),
            "G4b": (CONFIRMED, 3),
            "G5": (CONFIRMED, 4),
        },
    )


def test_one_setting_alone_is_compared_with_nothing():
    with pytest.raises(NotTestableError, match="two cores"):
        claims.most_over_least([1, 1], [5, 6])
