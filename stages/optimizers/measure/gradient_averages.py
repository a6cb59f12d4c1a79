"""What momentum and AdaGrad keep of gradients (12.6, 12.7), measured on airfoil's."""

from collections.abc import Iterator

import numpy as np

from lab.optim import update_rules
from lab.optim.objectives import Array
from lab.results.curves import Curve, line
from stages.optimizers.measure import names
from stages.optimizers.measure.linear_regression import Problem, batch_gradients, batches, initial

BATCH_SIZE = 10
BETA1 = 0.9
NUM_GRADIENTS = 4000  # at the minimum
WARM_UP = 200  # gradients after which momentum has forgotten its start
LATE_STEP = 300  # of AdaGrad's run, two epochs: the start is forgotten


def averages(task: Problem, num_seeds: int, seed: int) -> Iterator[Curve]:
    """To how many samples momentum's average of independent gradients amounts, by seed."""
    g = np.stack([_independent_gradients(task, seed + i) for i in range(num_seeds)], axis=1)
    v = np.zeros_like(g)  # (steps, seeds, d)
    for t in range(len(g)):
        v[t] = BETA1 * v[t - 1] + (1 - BETA1) * g[t] if t else (1 - BETA1) * g[t]
    effective = ((g**2).mean(0) / (v[WARM_UP:] ** 2).mean(0)).mean(1)
    yield line(names.AVERAGES, names.EFFECTIVE_NUMBER, np.arange(num_seeds), effective)


def _independent_gradients(task: Problem, seed: int) -> Array:
    """Gradients (steps, d) at the minimiser, of batches drawn with replacement."""
    rows = np.random.default_rng(seed).integers(len(task.X), size=(NUM_GRADIENTS, BATCH_SIZE))
    return batch_gradients(
        task, np.broadcast_to(task.minimiser, (len(rows), task.X.shape[1])), rows
    )


def geometric_sum() -> Iterator[Curve]:
    """The sum of beta^i for i from 0 to t, and the notes' formula for it, at beta 0.9."""
    t = np.arange(21)
    yield line(names.GEOMETRIC_SUM, names.SUMMED, t, np.cumsum(BETA1**t))
    yield line(names.GEOMETRIC_SUM, names.FORMULA, t, (1 - BETA1**t) / (1 - BETA1))


def adagrad_state(task: Problem, num_seeds: int, seed: int) -> Iterator[Curve]:
    """AdaGrad's sum of squared gradients (12.7.1) over ten epochs, its coordinates' mean.

    By seed: the exponent with which it grows after LATE_STEP.
    """
    rule, w = update_rules.adagrad(0.1), initial(num_seeds, task.X.shape[1], seed)
    state, sums = rule.init(w), []
    streams = [batches(len(task.X), BATCH_SIZE, 1500, seed + i) for i in range(num_seeds)]
    for rows in zip(*streams, strict=True):
        w, state = rule.update(w, batch_gradients(task, w, np.stack(rows)), state)
        sums.append(state[0].mean(1))
    steps = np.arange(1, len(sums) + 1)
    late = steps > LATE_STEP
    exponents = np.polyfit(np.log(steps[late]), np.log(np.array(sums)[late]), 1)[0]
    yield line(names.ADAGRAD_STATE, names.EXPONENT, np.arange(num_seeds), exponents)
