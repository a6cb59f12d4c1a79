"""What momentum, AdaGrad and Adam keep of gradients (12.6, 12.7, 12.10), measured on airfoil's."""

from collections.abc import Iterator

import numpy as np

from lab.optim import update_rules
from lab.optim.objectives import Array
from lab.results.curves import Curve, curve, line
from stages.optimizers.measure import names
from stages.optimizers.measure.linear_regression import Problem, batch_gradients, batches, initial

BATCH_SIZE = 10
BETA1, BETA2 = 0.9, 0.999
NUM_GRADIENTS = 4000  # at the minimum
WARM_UP = 200  # gradients after which momentum has forgotten its start
EARLY = 100  # gradients after which the bias of Adam's start is looked at
LATE_STEP = 300  # of AdaGrad's run, two epochs: the start is forgotten


def averages(task: Problem, num_seeds: int, seed: int) -> Iterator[Curve]:
    """What running averages make of independent gradients at the minimum, where their mean is 0."""
    g = np.stack([_independent_gradients(task, seed + i) for i in range(num_seeds)], axis=1)
    v, s = np.zeros_like(g), np.zeros_like(g)  # (steps, seeds, d)
    for t in range(len(g)):
        v[t] = BETA1 * v[t - 1] + (1 - BETA1) * g[t] if t else (1 - BETA1) * g[t]
        s[t] = BETA2 * s[t - 1] + (1 - BETA2) * g[t] ** 2 if t else (1 - BETA2) * g[t] ** 2
    square = (g**2).mean(0)
    found = {
        names.EFFECTIVE_NUMBER: (square / (v[WARM_UP:] ** 2).mean(0)).mean(1),
        names.FIRST_MOVES: _movement(v[WARM_UP:]),
        names.SECOND_MOVES: _movement(s[WARM_UP:]),
        names.UNCORRECTED: (s[EARLY - 1] / square).mean(1),
        names.CORRECTED: (s[EARLY - 1] / (1 - BETA2**EARLY) / square).mean(1),
    }
    for name, values in found.items():
        yield line(names.AVERAGES, name, np.arange(num_seeds), values)


def _independent_gradients(task: Problem, seed: int) -> Array:
    """Gradients (steps, d) at the minimiser, of batches drawn with replacement."""
    rows = np.random.default_rng(seed).integers(len(task.X), size=(NUM_GRADIENTS, BATCH_SIZE))
    return batch_gradients(
        task, np.broadcast_to(task.minimiser, (len(rows), task.X.shape[1])), rows
    )


def _movement(average: Array) -> Array:
    """The typical change (seeds,) of an average from step to step, relative to itself."""
    change = np.abs(np.diff(average, axis=0)) / np.abs(average[1:])
    return np.asarray(np.median(change, axis=(0, 2)))


def geometric_sum() -> Iterator[Curve]:
    """The sum of beta^i for i from 0 to t, and the notes' formula for it, at beta 0.9."""
    t = np.arange(21)
    yield line(names.GEOMETRIC_SUM, names.SUMMED, t, np.cumsum(BETA1**t))
    yield line(names.GEOMETRIC_SUM, names.FORMULA, t, (1 - BETA1**t) / (1 - BETA1))


def adagrad_state(task: Problem, num_seeds: int, seed: int) -> Iterator[Curve]:
    """AdaGrad's sum of squared gradients (12.7.1) over ten epochs, its coordinates' mean.

    By seed: the exponent with which it grows after LATE_STEP, and how much larger it is than the
    sum of squared deviations from the mean gradient in the notes' two epochs.
    """
    rule, w = update_rules.adagrad(0.1), initial(num_seeds, task.X.shape[1], seed)
    state, sums, gradients = rule.init(w), [], []
    streams = [batches(len(task.X), BATCH_SIZE, 1500, seed + i) for i in range(num_seeds)]
    for rows in zip(*streams, strict=True):
        gradients.append(batch_gradients(task, w, np.stack(rows)))
        w, state = rule.update(w, gradients[-1], state)
        sums.append(state[0].mean(1))
    steps = np.arange(1, len(sums) + 1)
    yield curve(names.ADAGRAD_GROWTH, names.SQUARES, steps[::30], sums[::30])
    late = steps > LATE_STEP
    exponents = np.polyfit(np.log(steps[late]), np.log(np.array(sums)[late]), 1)[0]
    first = np.array(gradients[:LATE_STEP])
    squares, deviations = (first**2).sum((0, 2)), ((first - first.mean(0)) ** 2).sum((0, 2))
    for name, values in ((names.EXPONENT, exponents), (names.OVER_VARIANCE, squares / deviations)):
        yield line(names.ADAGRAD_STATE, name, np.arange(num_seeds), values)


def broken_weights(sparse: Problem, num_seeds: int, seed: int) -> Iterator[Curve]:
    """How many weights are no numbers after AdaGrad's first step on rare features, by seed.

    The gradient of a feature that the batch lacks is 0, and so is the sum of its squares.
    """
    w = initial(num_seeds, sparse.X.shape[1], seed)
    rows = [next(batches(len(sparse.X), BATCH_SIZE, 1, seed + i)) for i in range(num_seeds)]
    for name, epsilon in ((names.WITH_EPSILON, 1e-6), (names.WITHOUT_EPSILON, 0.0)):
        rule = update_rules.adagrad(0.1, eps=epsilon)
        with np.errstate(invalid="ignore"):
            x, _ = rule.update(w, batch_gradients(sparse, w, np.stack(rows)), rule.init(w))
        yield line(names.BROKEN, name, np.arange(num_seeds), (~np.isfinite(x)).sum(1))
