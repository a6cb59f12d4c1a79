"""What a falling rate, counting and AdaGrad do to common and to rare features (12.7.1)."""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from lab.optim import update_rules
from lab.optim.objectives import Array
from lab.results.curves import Curve, curve, line
from stages.optimizers.measure import names
from stages.optimizers.measure.linear_regression import Problem, batch_gradients, batches, initial
from stages.optimizers.measure.rate_sweeps import NUM_STEPS, Sweep

ARMS = (names.SGD, names.DECAYING, names.COUNTING, names.ADAGRAD)
IS_COMMON, IS_RARE = 0.1, 1 / 30  # of the rows: at least, at most
BIN = 10  # features, from rare to common, that share a point of the figure


def feature_errors(task: Problem, found: Sweep) -> Iterator[Curve]:
    """How far the features' weights end from their best, at each arm's best rate.

    Errors are the mean squares of some features' weights, over those of the best weights: about 1
    at the start. By share of the rows, and by seed of common and of rare features.
    """
    share = (task.X != 0).mean(0)
    bins = np.array_split(np.argsort(share), max(2, len(share) // BIN))
    groups = {names.COMMON: share >= IS_COMMON, names.RARE: share <= IS_RARE}
    for arm in ARMS:
        weights = found.runs[arm].weights[found.best[arm], : found.num_seeds]
        errors = [_error(task, weights, members) for members in bins]
        yield curve(names.FEATURE_ERRORS, arm, [share[b].mean() for b in bins], errors)
        for group, members in groups.items():
            series = names.of_group(arm, group)
            error = _error(task, weights, members)
            yield line(names.GROUP_ERRORS, series, np.arange(found.num_seeds), error)


def _error(task: Problem, weights: Array, members: NDArray[np.generic]) -> Array:
    """Of weights (seeds, d): (seeds,)."""
    best = task.minimiser[members]
    return np.asarray(((weights[:, members] - best) ** 2).mean(1) / (best**2).mean())


def updates_when_absent(task: Problem, seed: int) -> Iterator[Curve]:
    """How often, of the steps whose batch lacks the rarest feature, its weight moves, in %."""
    rarest = int(np.argmin((task.X != 0).sum(0)))
    for name, rule in (
        (names.SGD, update_rules.gd(0.01)),
        (names.MOMENTUM, update_rules.momentum(0.001, 0.9)),
    ):
        w = initial(1, task.X.shape[1], seed)
        state, moved = rule.init(w), []
        for rows in batches(len(task.X), 10, NUM_STEPS, seed):
            before = w[0, rarest]
            w, state = rule.update(w, batch_gradients(task, w, rows[None]), state)
            if not task.X[rows, rarest].any():
                moved.append(w[0, rarest] != before)
        yield line(names.UPDATES_WHEN_ABSENT, name, [len(moved)], [100 * np.mean(moved)])
