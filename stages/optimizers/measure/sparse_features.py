"""What a falling rate, counting and AdaGrad do to common and to rare features (12.7.1)."""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from lab.optim.objectives import Array
from lab.results.curves import Curve, curve, line
from stages.optimizers.measure import names
from stages.optimizers.measure.linear_regression import Problem
from stages.optimizers.measure.rate_sweeps import Sweep

VARIANTS = (names.SGD, names.DECAYING, names.COUNTING, names.ADAGRAD)
IS_COMMON, IS_RARE = 0.1, 1 / 30  # of the rows: at least, at most
BIN = 10  # features, from rare to common, that share a point of the figure


def feature_errors(task: Problem, found: Sweep) -> Iterator[Curve]:
    """How far the features' weights end from their best, at each variant's best rate.

    Errors are the mean squares of some features' weights, over those of the best weights: about 1
    at the start. By share of the rows, and by seed of common and of rare features.
    """
    share = (task.X != 0).mean(0)
    bins = np.array_split(np.argsort(share), max(2, len(share) // BIN))
    groups = {names.COMMON: share >= IS_COMMON, names.RARE: share <= IS_RARE}
    for variant in VARIANTS:
        weights = found.runs[variant].weights[found.best[variant], : found.num_seeds]
        errors = [_error(task, weights, members) for members in bins]
        yield curve(names.FEATURE_ERRORS, variant, [share[b].mean() for b in bins], errors)
        for group, members in groups.items():
            series = names.of_group(variant, group)
            error = _error(task, weights, members)
            yield line(names.GROUP_ERRORS, series, np.arange(found.num_seeds), error)


def _error(task: Problem, weights: Array, members: NDArray[np.generic]) -> Array:
    """Of weights (seeds, d): (seeds,)."""
    best = task.minimiser[members]
    return np.asarray(((weights[:, members] - best) ** 2).mean(1) / (best**2).mean())
