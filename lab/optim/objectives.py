"""Functions to minimise, with their closed-form properties."""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


def risk(x: Array) -> Array:
    """Return the book's risk f(x) = x cos(pi x) (12.1.1)."""
    return x * np.cos(np.pi * x)


def empirical_risk(x: Array) -> Array:
    """Return the book's stand-in for an empirical risk, f(x) + 0.2 cos(5 pi x) (12.1.1)."""
    return risk(x) + 0.2 * np.cos(5 * np.pi * x)


def sampled_risk(x: Array, phases: Array, sigma: float) -> Array:
    """Return a real empirical risk (..., k): a sample's mean loss, whose expectation is `risk`.

    One example is a phase p ~ N(0, sigma^2) with the loss exp(sigma^2 / 2) x cos(pi x + p). Since
    E cos(p) is exp(-sigma^2 / 2) and E sin(p) is 0, the expected loss is exactly x cos(pi x).

    Args:
        x: points (k,).
        phases: samples (..., n) of n examples each.
        sigma: standard deviation of the phases.
    """
    cos, sin = np.cos(phases).mean(-1, keepdims=True), np.sin(phases).mean(-1, keepdims=True)
    values: Array = np.exp(sigma**2 / 2) * x * (np.cos(np.pi * x) * cos - np.sin(np.pi * x) * sin)
    return values


def minimise(
    f: Callable[[Array], Array], low: float, high: float, points: int = 201, rounds: int = 7
) -> float:
    """Return the global minimiser of f on [low, high], by grids that zoom in 20-fold each round.

    The first grid must be fine enough to separate the basins. The error is under
    (high - low) 20^-rounds.
    """
    x = np.linspace(low, high, points)
    for _ in range(rounds):
        best = int(np.argmin(f(x)))
        x = np.linspace(x[max(best - 5, 0)], x[min(best + 5, points - 1)], points)
    return float(x[np.argmin(f(x))])


def quadratic(x: Array, eigenvalues: Array, angle: float = 0.0) -> Array:
    """Return sum_i eigenvalues_i u_i^2 for points x (2, ...).

    u is x in axes rotated by `angle` radians. With eigenvalues (0.1, 2) and no angle, this is the
    book's 0.1 x1^2 + 2 x2^2 (12.6, 12.7).
    """
    u = _turn(x, angle)
    values: Array = eigenvalues[0] * u[0] ** 2 + eigenvalues[1] * u[1] ** 2
    return values


def quadratic_gradient(x: Array, eigenvalues: Array, angle: float = 0.0) -> Array:
    """Return the gradient (2, ...) of `quadratic`."""
    u = _turn(x, angle)
    return _turn(np.stack([2 * eigenvalues[0] * u[0], 2 * eigenvalues[1] * u[1]]), -angle)


def _turn(x: Array, angle: float) -> Array:
    cos, sin = np.cos(angle), np.sin(angle)
    return np.stack([cos * x[0] + sin * x[1], cos * x[1] - sin * x[0]])


def saddle_gradient(x: Array) -> Array:
    """Return the gradient (2, ...) of the saddle x1^2 - x2^2 (12.1.2), with Hessian diag(2, -2)."""
    return np.stack([2 * x[0], -2 * x[1]])


def least_squares(X: Array, y: Array) -> tuple[Array, Array, Array]:
    """Return Hessian (..., d, d), minimiser (..., d) and minimum of half the mean squared error.

    The prediction is X w, where X is (..., n, d); the targets y are (..., n).
    """
    n = X.shape[-2]
    hessian = X.swapaxes(-1, -2) @ X / n
    moment = X.swapaxes(-1, -2) @ y[..., None] / n
    w: Array = np.linalg.solve(hessian, moment)
    error = (X @ w)[..., 0] - y
    return hessian, w[..., 0], 0.5 * np.mean(error**2, axis=-1)


def excess(w: Array, hessian: Array, minimiser: Array) -> Array:
    """Return the exact excess of half the mean squared error at w (..., d) over its minimum."""
    error = w - minimiser
    values: Array = 0.5 * ((error @ hessian) * error).sum(-1)
    return values


def standardise(table: Array) -> tuple[Array, Array]:
    """Return the book's regression set from a table: 1500 rows of features and ones, the targets.

    Every column, including the target, is standardised over all rows (12.5.2).
    """
    scaled = (table - table.mean(0)) / table.std(0)
    return np.column_stack([scaled[:1500, :-1], np.ones(min(1500, len(table)))]), scaled[:1500, -1]
