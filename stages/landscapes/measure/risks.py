"""Risk, empirical risk and overfitting (12.1.1).

Each random seed gives one sample: a split of the airfoil data, or a draw. `argmin_gap` has a
thousand draws, so its rows are quantiles instead.
"""

from collections.abc import Iterator, Sequence
from itertools import combinations_with_replacement

import numpy as np
from numpy.typing import NDArray

from lab.optim import objectives
from lab.optim.objectives import Array
from lab.results.measurements import Measurement, by_seed, line, samples_at

RANGE = (0.5, 1.5)  # in which the book plots risk and empirical risk
GRID = 0.01  # the plot's step
SIGMA = 1.0  # of the phases in `sampled_risk`: an example's own minimum may lie anywhere in RANGE
QUANTILES = (0.25, 0.5, 0.75)
MOST_STEPS = 100_000


def risk_minima() -> Iterator[Measurement]:
    """Yield the minima of risk and empirical risk in the book's range: place and value."""
    for name, function in (
        ("risk", objectives.risk),
        ("empirical risk", objectives.empirical_risk),
    ):
        best = np.array([objectives.minimise(function, *RANGE)])
        yield from line("risk_minimum", name, best, function(best))


def roughness() -> Iterator[Measurement]:
    """Yield the largest curvature of risk and empirical risk on the notes' grid."""
    x = np.arange(*RANGE, GRID)
    for name, function in (
        ("risk", objectives.risk),
        ("empirical risk", objectives.empirical_risk),
    ):
        curvature = np.diff(function(x), 2) / GRID**2
        yield from line("roughness", name, [0], [np.abs(curvature).max()])


def argmin_gaps(
    sample_sizes: Sequence[int], num_draws: int, rng: np.random.Generator
) -> Iterator[Measurement]:
    """Yield quantiles of the distance between both minimisers, over draws of n examples."""
    best = objectives.minimise(objectives.risk, *RANGE)
    for n in sample_sizes:
        distances = np.abs(sample_minimisers(n, num_draws, rng) - best)
        for quantile in QUANTILES:
            at_quantile = [np.quantile(distances, quantile)]
            variant = "distance of the minimisers"
            yield from line("argmin_gap", variant, [n], at_quantile, quantile=quantile)


def sample_minimisers(n: int, num_draws: int, rng: np.random.Generator) -> Array:
    """Return the minimisers (num_draws,) of n examples' mean loss, on a grid of 2001 points."""
    grid = np.linspace(*RANGE, 2001)
    phases = rng.normal(0, SIGMA, (num_draws, n))
    return np.asarray(grid[objectives.sampled_risk(grid, phases, SIGMA).argmin(1)])


def overfitting(
    table: Array, train_rows: int, num_seeds: int, rng: np.random.Generator
) -> Iterator[Measurement]:
    """Yield errors on `train_rows` rows of the airfoil table and on all others, against the steps.

    Each seed is a split of the rows. Other splits choose the best step.
    """
    steps = np.unique(np.geomspace(1, MOST_STEPS, 41).astype(np.int64))
    X, y = quadratic_features(table)
    splits = [rng.permutation(len(y)) for _ in range(2 * num_seeds)]
    found = [errors(X, y, each[:train_rows], each[train_rows:], steps) for each in splits]
    training, others = (np.stack(each, axis=1) for each in zip(*found, strict=True))
    judged = slice(None, num_seeds)
    best = int(np.argmin(np.median(others[:, num_seeds:], axis=1)))
    yield from samples_at("overfitting", "rows trained on", steps, list(training[:, judged]))
    yield from samples_at("overfitting", "other rows", steps, list(others[:, judged]))
    yield by_seed("best_step", "other rows", others[best, judged], float(steps[best]))


def errors(
    X: Array,
    y: Array,
    train: NDArray[np.int64],
    others: NDArray[np.int64],
    steps: NDArray[np.int64],
) -> tuple[Array, Array]:
    """Return half the mean squared errors (steps,) on both sets of rows, for descent on `train`.

    It starts at 0 with rate 1 / largest curvature. Closed form: along an eigenvector of the
    Hessian, t steps go 1 - (1 - lr curvature)^t of the way.
    """
    curvatures, vectors = np.linalg.eigh(X[train].T @ X[train] / len(train))
    curvatures = np.maximum(curvatures, 1e-12)
    target = vectors.T @ (X[train].T @ y[train] / len(train)) / curvatures
    gone = 1 - (1 - curvatures / curvatures[-1]) ** steps[:, None]
    w = gone * target @ vectors.T  # (steps, d)
    training, other = (
        0.5 * ((X[rows] @ w.T - y[rows, None]) ** 2).mean(0) for rows in (train, others)
    )
    return training, other


def quadratic_features(table: Array) -> tuple[Array, Array]:
    """Return a constant, the features and their products, and the target, all standardised."""
    scaled = (table - table.mean(0)) / table.std(0)
    columns = scaled[:, :-1].T
    pairs = [a * b for a, b in combinations_with_replacement(columns, 2)]
    X = np.stack([np.ones(len(table)), *columns, *pairs], axis=1)
    return X / np.sqrt((X**2).mean(0)), scaled[:, -1]
