"""The rules of the claims about update rules."""

import pytest

from lab.claims.rules import Estimate
from stages.optimizers import claims
from tests.claim_cases import CONFIRMED, INCONCLUSIVE, REFUTED, check_rules

# the excesses at which nine rules end on a problem, the best first and the worst first
BEST = tuple([float(excess)] for excess in range(1, 10))
WORST = BEST[::-1]


def test_each_rule_gives_each_verdict_that_it_can():
    check_rules(
        "optimizers",
        {
            "F9a": {
                CONFIRMED: (0.24, [0.002], [0.001], [0.003]),
                REFUTED: (0.24, [0.1], [0.09], [0.11]),
                INCONCLUSIVE: (0.24, [0.01], [0.001], [0.1]),
            },
            "F12b": {
                CONFIRMED: (19.0, 18.9, 19.1, 18.0, 17.9, 18.1),
                REFUTED: (36.0, 35.9, 36.1, 18.0, 17.9, 18.1),
                INCONCLUSIVE: (22.0, 21.0, 23.0, 18.0, 17.0, 19.0),
            },
            "F13": {CONFIRMED: ([0, 1, 1.1], [0, 0, 0]), REFUTED: ([0, 1, 2], [0, 0, 0])},
            "F14a": {CONFIRMED: (-2.4, -0.2, 0.0, 0.01), REFUTED: (0.0, 0.01, -2.4, -0.2)},
            "F14b": {CONFIRMED: ([1, 1, 1], [2, 2, 0]), REFUTED: ([1, 1, 1], [2, 0, 0])},
            "F17a": {CONFIRMED: BEST * 3, REFUTED: WORST * 3},
        },
        {
            claims.last_ratio: lambda low, high: (
                *([9, (low + high) / 2], [9, low], [9, high]),
                *([7, 1], [7, 1], [7, 1]),
            )
        },
    )


def test_closed_forms():
    assert claims.quadratic_ratio([9, 2], [9, 0], [9, 1], [9, 0]).value == pytest.approx(4)
    assert claims.quadratic_ratio([0], [1], [1], [0]).value == pytest.approx(20), "2 over 0.1"
    assert claims.time_ratio([4.0], [3.0], [5.0], [2.0], [1.5], [2.5]) == Estimate(2, 2 / 3, 6)
    assert claims.rank_of_the_first(*(BEST + WORST + BEST)).value == 8, (
        "those never worst come first"
    )
    assert claims.last_excess(0.5, [1, 0.1], [1, 0.05], [1, 0.2]) == Estimate(1.2, 1.1, 1.4)
