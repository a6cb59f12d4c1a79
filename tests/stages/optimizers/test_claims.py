"""The rules of the claims about update rules."""

import pytest

from lab.claims.rules import at_most
from stages.optimizers.page import claims
from tests.claim_cases import CONFIRMED, INCONCLUSIVE, REFUTED, check_rules

EIGHT = [1.0] * 8  # samples enough for a verdict
FIRST_OF_NINE = ([9] * 8, *[[rule] * 8 for rule in range(8)])  # decades by seed
LAST_OF_NINE = ([0] * 8, *FIRST_OF_NINE[1:-1], [1] * 8)
FOURTH_OR_FIFTH = ([3.5, 4.5] * 4, *FIRST_OF_NINE[1:])
NARROW, WIDE = [0.95] * 8, [0.95, 1.5] * 4  # of a growth exponent


def test_each_rule_gives_each_verdict_that_it_can():
    check_rules(
        "optimizers",
        {
            "F12d": {CONFIRMED: (NARROW,), REFUTED: ([1.05] * 8,), INCONCLUSIVE: (WIDE,)},
            "F13a": {CONFIRMED: ([0, 1, 1.1], [0, 0, 0]), REFUTED: ([0, 1, 2], [0, 0, 0])},
            "F13b": {
                CONFIRMED: ([0, 1, 2], [0, 0, 0.1], [0, 1, 1], [0, 0, 1]),
                REFUTED: ([0, 1, 1], [0, 0, 1], [0, 1, 2], [0, 0, 0.1]),
            },
            "F14a": {CONFIRMED: (-2.4, -0.2, 0.0, 0.01), REFUTED: (0.0, 0.01, -2.4, -0.2)},
            "F14b": {CONFIRMED: ([1, 1, 1], [2, 2, 0]), REFUTED: ([1, 1, 1], [2, 0, 0])},
            "F14d": {CONFIRMED: ([1, 0.9], [1, 0.3]), REFUTED: ([1, 0.9], [1, 0.6])},
            "F16b": {
                CONFIRMED: ([0.85] * 8, [0.8] * 8),
                REFUTED: ([0.8] * 8, [0.8] * 8),
                INCONCLUSIVE: ([0.8, 0.9] * 4, [0.8] * 8),
            },
            "F17a": {
                CONFIRMED: FIRST_OF_NINE,
                REFUTED: LAST_OF_NINE,
                INCONCLUSIVE: FOURTH_OR_FIFTH,
            },
            "F18a": {CONFIRMED: ([1, 1.9], [1, 1.9]), REFUTED: ([1, 1.9], [0, 1])},
        },
        {claims.worst_ratio: lambda low, high: (*([0.5] * 8, EIGHT) * 2, [low, high] * 4, EIGHT)},
    )


def test_closed_forms():
    assert claims.quadratic_ratio([9, 2], [9, 0], [9, 1], [9, 0]).value == pytest.approx(4)
    assert claims.quadratic_ratio([0], [1], [1], [0]).value == pytest.approx(20), "2 over 0.1"
    assert claims.turning([0, 1, 1, 0], [0, 0, 1, 1]) == pytest.approx(180), "two right angles"
    assert claims.turning([0, -1, -2], [0, 0.1, 0]) == pytest.approx(11.42, abs=0.01), "past 180"
    assert claims.largest_error([1, 2], [1, 1.5]).value == pytest.approx(25)
    assert claims.worst_ratio([2], [1], [9], [3], [1], [1]).value == 3


def test_the_worst_of_the_problems_counts_for_each_seed():
    rule = claims.over_problems({p: p for p in claims.names.PROBLEMS}, "a", "b", at_most(2))
    assert len(rule.reads) == 6
    assert rule.estimate([1, 4], [1, 1], [3, 1], [1, 1], [1, 1], [1, 1]).value == 3.5
