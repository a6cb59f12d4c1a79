"""Momentum on a regression that is not smooth: the mean absolute error has a kink at each row."""

from collections.abc import Iterator

import numpy as np

from lab.optim import update_rules
from lab.results.curves import Curve, line
from stages.optimizers.measure import names
from stages.optimizers.measure.linear_regression import Problem, batches, initial

RATES = {names.MOMENTUM_001: 0.01, names.MOMENTUM_0005: 0.005}
NUM_STEPS = 300  # the notes' two epochs


def absolute_errors(task: Problem, num_seeds: int, seed: int) -> Iterator[Curve]:
    """The mean absolute error over all rows at the end, by seed, for the notes' two rates."""
    for name, rate in RATES.items():
        rule, w = update_rules.momentum(rate, 0.9), initial(num_seeds, task.X.shape[1], seed)
        state = rule.init(w)
        streams = [batches(len(task.X), 10, NUM_STEPS, seed + i) for i in range(num_seeds)]
        for rows in zip(*streams, strict=True):
            X, y = task.X[np.stack(rows)], task.y[np.stack(rows)]
            sign = np.sign((X @ w[:, :, None])[:, :, 0] - y)
            w, state = rule.update(w, np.einsum("sb,sbd->sd", sign, X) / X.shape[1], state)
        errors = np.abs(task.X @ w.T - task.y[:, None]).mean(0)
        yield line(names.NON_SMOOTH, name, np.arange(num_seeds), errors)
