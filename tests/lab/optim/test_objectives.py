import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lab.optim import objectives

EIGENVALUES = np.array([0.1, 2.0])


@pytest.mark.parametrize(
    ("function", "argmin", "minimum"),
    [(objectives.risk, 1.0904, -1.0467), (objectives.empirical_risk, 1.0170, -1.2085)],
)
def test_minima_match_the_book(function, argmin, minimum):
    best = objectives.minimise(function, 0.5, 1.5)
    assert best == pytest.approx(argmin, abs=5e-5)
    assert function(np.array(best)) == pytest.approx(minimum, abs=5e-5)


@given(st.floats(-0.9, 0.9))
def test_minimise_finds_the_vertex_of_a_parabola(vertex):
    found = objectives.minimise(lambda x: (x - vertex) ** 2, -1, 1)
    assert found == pytest.approx(vertex, abs=1e-7)


def test_expectation_of_the_sampled_risk_is_the_risk():
    x, rng = np.linspace(0.5, 1.5, 11), np.random.default_rng(0)
    phases = rng.normal(0, 0.7, 5)
    by_hand = np.mean([np.exp(0.245) * x * np.cos(np.pi * x + p) for p in phases], axis=0)
    assert objectives.sampled_risk(x, phases, 0.7) == pytest.approx(by_hand)
    many = objectives.sampled_risk(x, rng.normal(0, 0.7, (20, 100_000)), 0.7).mean(0)
    assert many == pytest.approx(objectives.risk(x), abs=5e-3)


@given(st.floats(-3, 3), st.floats(-3, 3), st.floats(0, 3.2))
def test_gradient_of_the_quadratic_is_its_slope(x1, x2, angle):
    x, h = np.array([x1, x2]), 1e-6

    def value(x):
        return objectives.quadratic(x, EIGENVALUES, angle)

    slope = [(value(x + h * e) - value(x - h * e)) / (2 * h) for e in np.eye(2)]
    assert objectives.quadratic_gradient(x, EIGENVALUES, angle) == pytest.approx(slope, abs=1e-6)


def test_rotating_the_quadratic_keeps_its_eigenvalues():
    hessian = [objectives.quadratic_gradient(e, EIGENVALUES, 0.7) for e in np.eye(2)]
    assert np.linalg.eigvalsh(hessian) == pytest.approx([0.2, 4.0])


def test_excess_is_the_loss_above_its_minimum():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(50, 4)), rng.normal(size=50)
    hessian, best, minimum = objectives.least_squares(X, y)
    w = rng.normal(size=(3, 4))
    loss = [0.5 * np.mean((X @ each - y) ** 2) for each in w]
    assert objectives.excess(w, hessian, best) + minimum == pytest.approx(loss)
    assert best == pytest.approx(np.linalg.lstsq(X, y, rcond=None)[0])


def test_standardising_matches_the_book():
    table = np.random.default_rng(0).normal(3, 5, (1503, 6))
    X, y = objectives.standardise(table)
    assert X.shape == (1500, 6)
    assert (X[:, 5] == 1).all()
    assert X[:, 0] == pytest.approx((table[:1500, 0] - table[:, 0].mean()) / table[:, 0].std())
    assert y == pytest.approx((table[:1500, 5] - table[:, 5].mean()) / table[:, 5].std())
