import pytest

from stages.optimizers.page import claims


def test_closed_forms():
    assert claims.quadratic_ratio([9, 2], [9, 0], [9, 1], [9, 0]).value == pytest.approx(4)
    assert claims.quadratic_ratio([0], [1], [1], [0]).value == pytest.approx(20), "2 over 0.1"
    assert claims.turning([0, 1, 1, 0], [0, 0, 1, 1]) == pytest.approx(180), "two right angles"
    assert claims.turning([0, -1, -2], [0, 0.1, 0]) == pytest.approx(11.42, abs=0.01), "past 180"
    assert claims.largest_error([1, 2], [1, 1.5]).value == pytest.approx(25)


def test_worst_problem_counts_for_each_seed():
    """Three problems, two seeds: ratios (1, 4), (3, 1) and (1, 1), so 3 and 4 are the worst."""
    assert claims.worst_ratio([1, 4], [1, 1], [3, 1], [1, 1], [1, 1], [1, 1]).value == 3.5
