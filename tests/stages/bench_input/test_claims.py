"""The rules of the claims about a training step's parts."""

import pytest

from lab.claims.evidence import NotTestableError
from stages.bench_input.page import claims
from tests.claim_cases import CONFIRMED, REFUTED, check_made_up, check_rules


def eight(low: float, high: float) -> list[float]:
    return [low] * 4 + [high] * 4


def test_each_rule_gives_each_verdict_that_it_can():
    check_rules(
        "bench_input",
        {},
        {
            claims.idle_share: lambda low, high: (
                2.0,
                [1.0] * 8,
                eight(100 / low - 1, 100 / high - 1),
            ),
            claims.with_over_without: lambda low, high: ([1.0] * 8, eight(low - 1, high - 1)),
            claims.share_of_calls: lambda low, high: (
                [16] * 8 + [256] * 8,
                [1] * 8 + [100] * 8,
                eight(low, high),
            ),
        },
    )


def test_made_up_results_come_to_the_verdict_and_the_number_that_they_were_made_for():
    check_made_up(
        "bench_input",
        {
            "D10": (CONFIRMED, 100 * 3 / 30),
            "D12p": (REFUTED, 5),
            "G12b": (CONFIRMED, 1.5),
            "G12p": (CONFIRMED, 36 / 27),
            "G12w": (REFUTED, 0.75),
        },
    )


def test_one_device_has_nobody_to_wait_for_it():
    with pytest.raises(NotTestableError, match="one device"):
        claims.idle_share(1, [1.0] * 8, [3.0] * 8)
