"""Linear regressions, and descent on them by any update rule, many seeds and rates at once."""

from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lab.optim.objectives import Array, excess, least_squares
from lab.optim.update_rules import UpdateRule


class Problem(NamedTuple):
    """Features X (n, d), targets y (n,), and what is exact of half their mean squared error."""

    X: Array
    y: Array
    hessian: Array
    minimiser: Array
    minimum: float


class Trajectory(NamedTuple):
    """Excess (checks, rates, seeds) over the minimum after `steps` (checks,).

    `diverged_step` (rates, seeds) is the step at which a run diverged, 0 if it did not; from then
    on its excess is NaN. `weights` (rates, seeds, d) are the last.
    """

    steps: NDArray[np.int64]
    excess: Array
    diverged_step: NDArray[np.int64]
    weights: Array


DIVERGED_ABOVE = 1e6  # an excess that no start of any problem here comes near


def problem(X: Array, y: Array) -> Problem:
    """The regression of y on X with its Hessian, minimiser and minimum."""
    return Problem(X, y, *least_squares(X, y))


def ill_conditioned(seed: int) -> Problem:
    """A regression whose Hessian is diagonal with eigenvalues from 1 to 1e-3."""
    rng = np.random.default_rng(seed)
    scales = np.logspace(0, -1.5, 20)
    X = np.linalg.qr(rng.normal(size=(1500, 20)))[0] * np.sqrt(1500) * scales
    return problem(X, X @ (rng.normal(size=20) / scales) + 0.1 * rng.normal(size=1500))


def sparse(seed: int) -> Problem:
    """A regression on rare features: feature j is 1 in a share 1 / (j + 1) of the rows, else 0."""
    rng = np.random.default_rng(seed)
    X = (rng.random((1500, 60)) < 1 / np.arange(1, 61)).astype(float)
    return problem(X, X @ rng.normal(size=60) + 0.1 * rng.normal(size=1500))


def batches(n: int, batch_size: int, num_steps: int, seed: int) -> Iterator[NDArray[np.int64]]:
    """`num_steps` minibatches of row numbers, a new permutation for each epoch.

    Rows that fill no batch are left out of their epoch.
    """
    rng = np.random.default_rng(seed)
    per_epoch = n // batch_size
    for step in range(num_steps):
        if step % per_epoch == 0:
            order = rng.permutation(n)
        start = step % per_epoch * batch_size
        yield order[start : start + batch_size]


def batch_gradients(task: Problem, x: Array, rows: NDArray[np.int64]) -> Array:
    """The gradients (seeds, d) of half the mean squared error at x (seeds, d), on each one's rows.

    `rows` is (seeds, batch).
    """
    X = task.X[rows]
    error = (X @ x[:, :, None])[:, :, 0] - task.y[rows]
    return np.asarray(np.einsum("sb,sbd->sd", error, X) / rows.shape[1])


def initial(num_seeds: int, d: int, seed: int) -> Array:
    """The book's starts (num_seeds, d): weights N(0, 0.01^2), and 0 for the last, the bias."""
    w = np.random.default_rng(seed).normal(0, 0.01, (num_seeds, d))
    w[:, -1] = 0
    return w


def descend(
    make_rule: Callable[[Array], UpdateRule],
    rates: Array,
    task: Problem,
    w: Array,
    batch_size: int,
    num_steps: int,
    check_every: int,
    seed: int,
) -> Trajectory:
    """Run a rule at all rates from all starts at once.

    Start i has batches of its own, those of `seed` + i, the same at every rate.

    Args:
        make_rule: a rule for an array of rates (rates, 1, 1).
        rates: (rates,).
        task: the regression problem.
        w: starts (seeds, d).
        batch_size: examples per step, of whose half mean squared error the gradient is.
        num_steps: steps of each run.
        check_every: steps between two readings of the excess.
        seed: of the first start's batches.
    """
    rule = make_rule(rates[:, None, None])
    x = np.broadcast_to(w, (len(rates), *w.shape)).copy()
    state = rule.init(x)
    streams = [batches(len(task.X), batch_size, num_steps, seed + i) for i in range(len(w))]
    diverged = np.zeros(x.shape[:2], dtype=np.int64)
    steps, readings = [0], [excess(x, task.hessian, task.minimiser)]
    with np.errstate(over="ignore", invalid="ignore"):
        for step in range(1, num_steps + 1):
            rows = np.stack([next(stream) for stream in streams])
            X, y = task.X[rows], task.y[rows]  # (seeds, batch, d), (seeds, batch)
            error = x[:, :, None, :] @ X.swapaxes(1, 2) - y[:, None, :]  # (rates, seeds, 1, batch)
            x, state = rule.update(x, (error @ X)[:, :, 0, :] / batch_size, state)
            now = excess(x, task.hessian, task.minimiser)
            diverged[~(now < DIVERGED_ABOVE) & (diverged == 0)] = step
            if step % check_every == 0 or step == num_steps:
                steps.append(step)
                readings.append(np.where(diverged > 0, np.nan, now))
    return Trajectory(np.array(steps), np.stack(readings), diverged, x)
