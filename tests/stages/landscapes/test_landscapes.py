"""Results of `landscapes`, compared with closed forms."""

import math

import numpy as np
import pytest

from lab.data import synthetic
from lab.results.measurements import Results, curve_of
from stages.landscapes.findings import findings
from stages.landscapes.measure import risks
from stages.landscapes.measure.flat_points import SADDLE_LIMIT
from stages.landscapes.measure.risks import overfitting, quadratic_features, sample_minimisers
from tests import smallest


@pytest.fixture(scope="module")
def found():
    measured = smallest.results("landscapes")
    return Results(measured)


def test_landscapes_finds_the_known_values(found):
    derived = {name: finding.value for name, finding in findings(found).items()}
    assert derived["minima_apart"] == pytest.approx(1.090408 - 1.016983, abs=1e-6)
    assert derived["cube_lower_percent"] == 50, "it grows through 0"
    assert derived["excess_risk"] == pytest.approx(0.0312, abs=5e-5)
    assert -0.8 < derived["gap_exponent"] < -0.2, "theory says a half"

    steps = {
        rule: {round(x, 12): y for x, y in zip(c.x, c.y, strict=True)}
        for rule, c in found.curves("saddle_escape").items()
    }
    by_hand = math.ceil(math.log(1e6) / math.log(1 + 2 * 0.05))
    assert steps["GD"][1e-6] == by_hand, "x2 grows by 1.1 a step"
    assert derived["escape_steps_gd_from_a_millionth"] == by_hand
    assert steps["GD"][0] == SADDLE_LIMIT, "on the line itself GD stays"
    assert steps["GD with noise"][0] < 500
    for faster in ("momentum 0.9", "Adam"):
        assert steps[faster][1e-6] < by_hand, faster


def test_half_of_the_directions_lead_down_from_the_books_saddle_and_from_random_ones(found):
    shares = {
        (saddle, d): np.mean(found.one("ways_down", saddle, dimension=d).values)
        for saddle in ("one way down", "random")
        for d in (2, 10)
    }
    assert shares.pop(("one way down", 10)) < 0.1
    assert list(shares.values()) == pytest.approx([0.5] * 3, abs=0.1)


def test_the_minimum_of_many_examples_is_near_that_of_the_risk():
    found = sample_minimisers(100_000, 3, np.random.default_rng(0))
    assert found == pytest.approx(1.0904, abs=0.02)


def test_the_best_step_is_chosen_and_judged_by_different_splits(monkeypatch):
    """The last two of four splits choose the first step, which is the worst for the others."""
    splits = iter([5, 5, -1, -1])
    monkeypatch.setattr(
        risks, "errors", lambda *args: (args[-1], np.where(args[-1] == 1, next(splits), 3.0))
    )
    found = Results(list(overfitting(synthetic.airfoil(0), 40, 2, np.random.default_rng(0))))
    best = found.one("best_step", "other rows")
    assert (best.x, best.values) == (1, (5, 5))


def test_descent_on_few_rows_ends_at_their_least_squares():
    table = synthetic.airfoil(0)[:300]
    rng = np.random.default_rng(0)
    rows = np.random.default_rng(0).permutation(len(table))[:100]
    X, y = quadratic_features(table)
    w = np.linalg.lstsq(X[rows], y[rows], rcond=None)[0]
    results = Results(list(overfitting(table, 100, 1, rng)))
    training = curve_of(results.series("overfitting", "rows trained on")).y
    assert (np.diff(training) <= 1e-12).all()
    least = 0.5 * np.mean((X[rows] @ w - y[rows]) ** 2)
    assert training[-1] == pytest.approx(least, rel=1e-3)
