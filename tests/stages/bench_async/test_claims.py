"""The rules of the claims about asynchronous calls."""

import pytest

from lab.claims.evidence import NotTestableError
from stages.bench_async import claims
from tests.claim_cases import CONFIRMED, INCONCLUSIVE, REFUTED, check_made_up, check_rules

STARTS = 8
ONES, TWOS, EITHER = [1.0] * STARTS, [2.0] * STARTS, [0.5, 2.0] * (STARTS // 2)
LENGTHS = [1] * STARTS + [100] * STARTS  # of series: the second decides


def test_each_rule_gives_each_verdict_that_it_can():
    check_rules(
        "bench_async",
        {
            "B1c": {
                CONFIRMED: (TWOS, ONES, ONES, ONES),
                REFUTED: (TWOS, ONES, TWOS, ONES),
                INCONCLUSIVE: (TWOS, ONES, EITHER, [0.5] * STARTS),
            },
            "B3a": {
                CONFIRMED: (TWOS + ONES, TWOS + TWOS, LENGTHS),
                REFUTED: (ONES + TWOS, TWOS + TWOS, LENGTHS),
                INCONCLUSIVE: (ONES + EITHER, TWOS + TWOS, LENGTHS),
            },
            "B3b": {
                CONFIRMED: ([99.0] * STARTS, [60.0] * STARTS),
                REFUTED: ([99.0] * STARTS, [40.0] * STARTS),
                INCONCLUSIVE: ([99.0] * STARTS, [40.0, 60.0] * (STARTS // 2)),
            },
            "B3c": {CONFIRMED: ([3, 3], [5, 4]), REFUTED: ([3, 3], [5, 3])},
            "B4": {CONFIRMED: ([3, 3], [2, 2]), REFUTED: ([3, 2], [2, 2])},
        },
    )


def test_without_a_race_nobody_knows_whether_order_was_kept():
    with pytest.raises(NotTestableError, match="no race"):
        claims.order_kept([3, 3], [2, 3])


def test_made_up_results_come_to_the_verdict_and_the_number_that_they_were_made_for():
    check_made_up(
        "bench_async",
        {
            "B1": (CONFIRMED, 40 / 0.2),
            "B1a": (REFUTED, 40 / 0.2),
            "B1b": (CONFIRMED, 40 / 20),
            "B1c": (CONFIRMED, (40 / 0.2) / (15 / 10)),
            "B1d": (CONFIRMED, 2),
            "B2": (CONFIRMED, 20 / 0.2),
            "B2a": (REFUTED, 20 / 0.2),
            "B3": (CONFIRMED, 0.01),
            "B3a": (CONFIRMED, 0.01),
            "B3b": (CONFIRMED, 60),
            "B3c": (CONFIRMED, 2),
            "B4": (CONFIRMED, 0),
        },
    )
