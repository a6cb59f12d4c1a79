"""What `landscapes` finds, against what is known in closed form."""

import math

import numpy as np
import pytest

from lab.data import synthetic
from stages.landscapes.measure import names
from stages.landscapes.measure.overfitting import overfitting, quadratic_features
from stages.landscapes.page.section import section
from tests import smallest


def test_landscapes_finds_what_is_known():
    curves, m = smallest.results("landscapes")
    assert (m[names.ARGMIN_RISK], m[names.ARGMIN_EMPIRICAL_RISK]) == (1.090408, 1.016983)
    assert m[names.EXCESS_RISK] == pytest.approx(0.0312, abs=5e-5)
    assert -0.8 < m[names.GAP_EXPONENT] < -0.2, "theory says a half"

    steps = {
        c.series: dict(zip(c.x, c.y, strict=True))
        for c in curves
        if c.experiment == names.SADDLE_ESCAPE
    }
    [millionth] = [x for x in steps[names.GD] if x == pytest.approx(1e-6)]
    by_hand = math.ceil(math.log(1e6) / math.log(1 + 2 * 0.05))
    assert steps[names.GD][millionth] == by_hand, "x2 grows by 1.1 a step"
    assert m[names.GD_STEPS] == by_hand
    assert steps[names.GD][0] == names.SADDLE_LIMIT, "on the line itself GD stays"
    assert steps[names.NOISY_GD][0] < 500
    for faster in (names.MOMENTUM, names.ADAM):
        assert steps[faster][millionth] < by_hand, faster


def test_random_matrices_have_as_many_negative_eigenvalues_as_positive_and_are_rarely_minima():
    curves, _ = smallest.results("landscapes")
    found = {c.series: c.y for c in curves if c.experiment == names.NEGATIVE_EIGENVALUES}
    assert found[names.NEGATIVE_SHARE] == pytest.approx(0.5, abs=0.15)
    one, _, twenty = found[names.WITHOUT_NEGATIVE]
    assert one == pytest.approx(0.5, abs=0.15)
    assert twenty == 0


def test_neighbours_tell_minima_saddles_and_maxima_apart():
    curves, _ = smallest.results("landscapes")
    found = {c.series: (c.x[0], c.y[0]) for c in curves if c.experiment == names.NEIGHBOURS}
    minimum, saddle, other_saddle, maximum = (found[name] for name in names.QUADRATICS)
    assert (minimum, maximum) == ((0, 1), (1, 0))
    assert saddle == other_saddle == pytest.approx((0.5, 0.5))


def test_half_of_the_directions_lead_down_from_the_books_saddle_and_from_random_ones():
    curves, _ = smallest.results("landscapes")
    found = {c.series: c.y.mean() for c in curves if c.experiment == names.WAYS_DOWN}
    for series in (
        names.one_way(names.FEW),
        names.random_saddles(names.FEW),
        names.random_saddles(names.MANY),
    ):
        assert found[series] == pytest.approx(0.5, abs=0.1), series
    assert found[names.one_way(names.MANY)] < 0.1


def test_descent_on_few_rows_ends_at_their_least_squares():
    table = synthetic.airfoil(0)[:300]
    rng = np.random.default_rng(0)
    rows = np.random.default_rng(0).permutation(len(table))[:100]
    X, y = quadratic_features(table)
    w = np.linalg.lstsq(X[rows], y[rows], rcond=None)[0]
    curves = {(c.experiment, c.series): c for c in overfitting(table, 100, 1, rng)}
    training = curves[names.OVERFITTING, names.TRAINING].y
    assert (np.diff(training) <= 1e-12).all()
    least = 0.5 * np.mean((X[rows] @ w - y[rows]) ** 2)
    assert training[-1] == pytest.approx(least, rel=1e-3)


def test_the_minima_are_named_in_the_picture(tmp_path):
    smallest.write("landscapes", tmp_path)
    for figure in section(tmp_path / "landscapes").figures:
        figure.draw(tmp_path)
    drawn = (tmp_path / "risk.svg").read_text()
    assert "risk: −1.047 at x = 1.090" in drawn
    assert "empirical risk: −1.208 at x = 1.017" in drawn
