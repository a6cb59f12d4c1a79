"""Averages of the airfoil regression's gradients in momentum, AdaGrad and Adam (12.6 to 12.10)."""

from collections.abc import Iterator, Mapping, Sequence
from functools import partial

import numpy as np

from lab.optim import update_rules
from lab.optim.objectives import Array
from lab.results.measurements import Measurement, by_seed, line
from stages.optimizers.measure.regression import (
    BATCH_SIZE,
    MakeRule,
    Problem,
    batch_gradients,
    batches,
    descend,
    initial,
)

BETA1 = 0.9
NUM_GRADIENTS = 4000  # at the minimum
WARM_UP = 200  # gradients until momentum has forgotten its start
LATE_STEP = 300  # two epochs, after which AdaGrad's run has forgotten its start

RUNS_PER_SEED = 40  # averaged to a seed's value, since a run's end depends strongly on its batches
CORRECTION_EPOCHS = (2, 4)  # of the notes' runs from scratch and with torch
DECAYS = (0.9, 0.999)  # of the squares' average: RMSProp in the book, Adam in the notes


def averages(task: Problem, num_seeds: int, seed: int) -> Iterator[Measurement]:
    """Yield the effective sample size of momentum's average of independent gradients (12.6)."""
    g = np.stack([_independent_gradients(task, seed + i) for i in range(num_seeds)], axis=1)
    v = momentum_averages(g)[WARM_UP:]
    effective = ((g**2).mean(0) / (v**2).mean(0)).mean(1)
    yield by_seed("gradient_averages", "effective samples of momentum 0.9", effective)


def momentum_averages(g: Array) -> Array:
    """Return the leaky average of gradients (steps, ...) after each step, starting at 0."""
    v = np.zeros_like(g)
    for t in range(len(g)):
        v[t] = BETA1 * v[t - 1] + (1 - BETA1) * g[t] if t else (1 - BETA1) * g[t]
    return v


def _independent_gradients(task: Problem, seed: int) -> Array:
    """Return gradients (steps, d) at the minimiser, on batches drawn with replacement."""
    rows = np.random.default_rng(seed).integers(task.X.shape[1], size=(NUM_GRADIENTS, BATCH_SIZE))
    return batch_gradients(
        task, np.broadcast_to(task.minimiser[0], (len(rows), task.X.shape[-1])), rows
    )


def geometric_sum() -> Iterator[Measurement]:
    """Yield the sum of beta^i for i from 0 to t, and the notes' formula for it, at beta 0.9."""
    t = np.arange(21)
    yield from line("geometric_sum", "summed", t, np.cumsum(BETA1**t))
    yield from line("geometric_sum", "the notes' formula", t, (1 - BETA1**t) / (1 - BETA1))


def adagrad_state(task: Problem, num_seeds: int, seed: int) -> Iterator[Measurement]:
    """Yield the exponent with which AdaGrad's sum of squared gradients grows (12.7.1).

    The sums are averaged over coordinates and fitted from LATE_STEP to the end of ten epochs.
    """
    rule, w = update_rules.adagrad(0.1), initial(num_seeds, task.X.shape[-1], seed)
    state, sums = rule.init(w), []
    for rows in batches(task.X.shape[1], BATCH_SIZE, 1500, range(seed, seed + num_seeds)):
        w, state = rule.update(w, batch_gradients(task, w, rows), state)
        sums.append(state[0].mean(1))
    steps = np.arange(1, len(sums) + 1)
    late = steps > LATE_STEP
    exponents = np.polyfit(np.log(steps[late]), np.log(np.array(sums)[late]), 1)[0]
    yield by_seed("adagrad_state", "growth exponent", exponents)


def corrections(task: Problem, num_seeds: int, seed: int) -> Iterator[Measurement]:
    """Yield each seed's mean excess at the notes' rate, with and without Adam's bias correction.

    RMSProp adds epsilon outside the root, as Adam does, so that only the correction differs.
    """
    variants: list[tuple[str, MakeRule, dict[str, float]]] = [
        ("Adam", update_rules.adam, {}),
        ("Adam from the first gradient", update_rules.adam_from_first_gradient, {}),
    ]
    for decay in DECAYS:
        rmsprop = partial(update_rules.rmsprop, gamma=decay, inside=False)
        no_momentum = partial(update_rules.adam, beta1=0.0, beta2=decay)
        variants.append(("RMSProp", rmsprop, {"decay": decay}))
        variants.append(("Adam without momentum", no_momentum, {"decay": decay}))
    for name, make_rule, columns in variants:
        found = mean_excess(task, make_rule, 0.01, num_seeds, CORRECTION_EPOCHS, seed)
        for epochs, means in zip(CORRECTION_EPOCHS, found, strict=True):
            yield by_seed("bias_correction", name, means, epochs, **columns)


def momentum_at(
    task: Problem, rates: Mapping[str, float], num_seeds: int, seed: int
) -> Iterator[Measurement]:
    """Yield momentum's excess after two epochs at each rate: each seed's mean.

    Its seeds are not among the sweep's, which chose one of the rates.
    """
    rule = partial(update_rules.momentum, beta=0.9)
    for chosen, rate in rates.items():
        [means] = mean_excess(task, rule, rate, num_seeds, (2,), seed + 2 * num_seeds)
        yield by_seed("momentum_at", "momentum 0.9", means, rate, chosen=chosen)


def mean_excess(
    task: Problem,
    make_rule: MakeRule,
    rate: float,
    num_seeds: int,
    epochs: Sequence[int],
    seed: int,
) -> Array:
    """Return the excess (epochs, seeds) after each of `epochs`, the mean of RUNS_PER_SEED runs."""
    w = initial(num_seeds * RUNS_PER_SEED, task.X.shape[-1], seed)
    per_epoch = task.X.shape[1] // BATCH_SIZE
    num_steps = max(epochs) * per_epoch
    run = descend(make_rule, np.array([rate]), task, w, BATCH_SIZE, num_steps, per_epoch, seed)
    ends = run.excess[list(epochs), 0]
    return np.asarray(ends.reshape(len(epochs), num_seeds, RUNS_PER_SEED).mean(-1))
