"""The rules of the claims about update rules."""

import pytest

from lab.claims.rules import at_most
from stages.optimizers.page import claims

NARROW, WIDE = [0.95] * 8, [0.95, 1.5] * 4  # of a growth exponent


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
