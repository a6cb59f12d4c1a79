"""Training error against the error on other rows (12.1.1), on a few rows of the airfoil table."""

from collections.abc import Iterator
from itertools import combinations_with_replacement

import numpy as np
from numpy.typing import NDArray

from lab.optim.objectives import Array
from lab.results.curves import Curve, curve, line
from stages.landscapes.measure import names

MOST_STEPS = 100_000


def overfitting(
    table: Array, train_rows: int, num_seeds: int, rng: np.random.Generator
) -> Iterator[Curve]:
    """Errors on `train_rows` rows and on all others against the steps of descent on the former.

    By seed, the errors at the end, and that on other rows at the step that suits other seeds best.
    Each seed is a split of the table's rows.
    """
    steps = np.unique(np.geomspace(1, MOST_STEPS, 41).astype(np.int64))
    X, y = quadratic_features(table)
    splits = [rng.permutation(len(y)) for _ in range(2 * num_seeds)]
    found = [_errors(X, y, each[:train_rows], each[train_rows:], steps) for each in splits]
    training, others = (np.stack(errors, axis=1) for errors in zip(*found, strict=True))
    judged = slice(None, num_seeds)  # by what the others choose
    best = int(np.argmin(np.median(others[:, num_seeds:], axis=1)))
    for name, errors in ((names.TRAINING, training), (names.OTHERS, others)):
        yield curve(names.OVERFITTING, name, steps, list(errors[:, judged]))
        yield line(names.OVERFITTING_ENDS, name, np.arange(num_seeds), errors[-1, judged])
    at_best = others[best, judged]
    yield line(names.OVERFITTING_ENDS, names.OTHERS_AT_BEST, np.arange(num_seeds), at_best)


def quadratic_features(table: Array) -> tuple[Array, Array]:
    """A constant, the features and their products, and the target, all standardised."""
    scaled = (table - table.mean(0)) / table.std(0)
    columns = scaled[:, :-1].T
    pairs = [a * b for a, b in combinations_with_replacement(columns, 2)]
    X = np.stack([np.ones(len(table)), *columns, *pairs], axis=1)
    return X / np.sqrt((X**2).mean(0)), scaled[:, -1]


def _errors(
    X: Array,
    y: Array,
    train: NDArray[np.int64],
    others: NDArray[np.int64],
    steps: NDArray[np.int64],
) -> tuple[Array, Array]:
    """Half the mean squared errors (steps,) of descent from 0 at the rate 1 / largest curvature.

    In closed form: along an eigenvector of the Hessian, t steps go 1 - (1 - lr curvature)^t of the
    way.
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
