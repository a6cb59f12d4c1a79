"""The regression demos of 12.5 to 12.10: the notes' airfoil runs, sweeps of rates, two problems
that separate.
"""

import time
from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np

from lab.optim import update_rules
from lab.optim.objectives import Array
from lab.optim.update_rules import Rule
from lab.results.curves import Curve, curve, line
from stages.optimizers.regression import Problem, batches, descend, initial, problem

SWEPT_RATES = (1e-4, 1e2)


class Run(NamedTuple):
    """One of the notes' airfoil runs."""

    make_rule: Callable[[Array], Rule]
    rate: float
    batch_size: int = 10
    num_epochs: int = 2


NOTES_RUNS: dict[str, Run] = {
    "GD, rate 1": Run(update_rules.gd, 1.0, batch_size=1500, num_epochs=10),
    "SGD, batch 1, rate 0.005": Run(update_rules.gd, 0.005, batch_size=1, num_epochs=1),
    "SGD, batch 100, rate 0.4": Run(update_rules.gd, 0.4, batch_size=100),
    "SGD, batch 10, rate 0.05": Run(update_rules.gd, 0.05),
    "momentum 0.5, rate 0.02": Run(lambda lr: update_rules.momentum(lr, 0.5), 0.02),
    "momentum 0.9, rate 0.01": Run(lambda lr: update_rules.momentum(lr, 0.9), 0.01),
    "momentum 0.9, rate 0.005": Run(lambda lr: update_rules.momentum(lr, 0.9), 0.005),
    "AdaGrad, rate 0.1": Run(update_rules.adagrad, 0.1),
    "RMSProp, rate 0.01": Run(update_rules.rmsprop, 0.01),
    "Adadelta, rho 0.9": Run(lambda lr: update_rules.adadelta(lr=lr), 1.0),
    "Adam, rate 0.01": Run(update_rules.adam, 0.01),
    "Adam, rate 0.01, epsilon inside": Run(lambda lr: update_rules.adam(lr, inside=True), 0.01),
    "Yogi, rate 0.01": Run(update_rules.yogi, 0.01),
    # The "concise" runs: torch's MSELoss has no half, so its gradients are twice as large. Twice
    # the rate is the same for momentum; AdaGrad and Adam divide the factor out again.
    "momentum 0.9, rate 0.005, concise": Run(
        lambda lr: update_rules.momentum(2 * lr, 0.9), 0.005, num_epochs=4
    ),
    "AdaGrad, rate 0.1, concise": Run(update_rules.adagrad, 0.1, num_epochs=4),
    "Adam, rate 0.01, concise": Run(update_rules.adam, 0.01, num_epochs=4),
}

SWEPT: dict[str, Callable[[Array], Rule]] = {
    "SGD": update_rules.gd,
    "momentum 0.9": lambda lr: update_rules.momentum(lr, 0.9),
    "Nesterov 0.9": lambda lr: update_rules.nesterov(lr, 0.9),
    "AdaGrad": update_rules.adagrad,
    "RMSProp": update_rules.rmsprop,
    "Adadelta": lambda lr: update_rules.adadelta(lr=lr),
    "Adam": update_rules.adam,
    "AdamW": update_rules.adamw,
    "Yogi": update_rules.yogi,
}


def notes_runs(task: Problem, num_seeds: int, seed: int) -> Iterator[Curve]:
    """Yield the notes' runs: the excess over the minimum against epochs, over seeds."""
    w = initial(num_seeds, task.X.shape[1], seed)
    for name, arm in NOTES_RUNS.items():
        per_epoch = len(task.X) // arm.batch_size
        result = descend(
            arm.make_rule,
            np.array([arm.rate]),
            task,
            w,
            arm.batch_size,
            arm.num_epochs * per_epoch,
            max(1, per_epoch // 8),
            seed,
        )
        yield curve("airfoil", name, result.steps / per_epoch, list(result.excess[:, 0]))


def adagrad_growth(task: Problem, seed: int) -> Curve:
    """Return AdaGrad's sum of squared gradients, the mean over coordinates, against the step
    (12.7.1).
    """
    rule, w = update_rules.adagrad(0.1), initial(1, task.X.shape[1], seed)[0]
    state, sums = rule.init(w), []
    for rows in batches(len(task.X), 10, 1500, seed):
        w, state = rule.update(w, task.X[rows].T @ (task.X[rows] @ w - task.y[rows]) / 10, state)
        sums.append(float(state[0].mean()))
    return line(
        "adagrad_growth", "sum of squared gradients", np.arange(1, len(sums) + 1, 30), sums[::30]
    )


def sweep(
    demo: str, task: Problem, num_seeds: int, num_rates: int, seed: int, num_steps: int = 300
) -> Iterator[Curve]:
    """Yield for every rule the final excess against the rate, and the descent at the rate that ends
    lowest.
    """
    rates = np.geomspace(*SWEPT_RATES, num_rates)
    w = initial(num_seeds, task.X.shape[1], seed)
    for name, make_rule in SWEPT.items():
        result = descend(make_rule, rates, task, w, 10, num_steps, max(1, num_steps // 30), seed)
        final = result.excess[-1]
        yield curve(f"{demo}_rates", name, rates, list(final), list(result.diverged_step))
        typical = np.array(
            [np.median(each) if np.isfinite(each).all() else np.inf for each in final]
        )
        best = int(np.argmin(typical))
        yield curve(
            f"{demo}_best",
            f"{name}, rate {rates[best]:.2g}",
            result.steps,
            list(result.excess[:, best]),
        )


def ill_conditioned(seed: int) -> Problem:
    """Return a regression whose Hessian is diagonal with eigenvalues from 1 to 1e-3."""
    rng = np.random.default_rng(seed)
    scales = np.logspace(0, -1.5, 20)
    X = np.linalg.qr(rng.normal(size=(1500, 20)))[0] * np.sqrt(1500) * scales
    return problem(X, X @ (rng.normal(size=20) / scales) + 0.1 * rng.normal(size=1500))


def sparse(seed: int) -> Problem:
    """Return a regression on rare features: feature j is 1 in a share 1 / (j + 1) of the rows, else
    0.
    """
    rng = np.random.default_rng(seed)
    X = (rng.random((1500, 60)) < 1 / np.arange(1, 61)).astype(float)
    return problem(X, X @ rng.normal(size=60) + 0.1 * rng.normal(size=1500))


def step_times(task: Problem, num_runs: int, seed: int) -> dict[str, list[float]]:
    """Return microseconds per step of each rule on one airfoil run of two epochs, in alternating
    order.
    """
    w = initial(1, task.X.shape[1], seed)
    times: dict[str, list[float]] = {name: [] for name in SWEPT}
    for round_ in range(num_runs + 1):
        for name in list(SWEPT)[:: 1 if round_ % 2 else -1]:
            start = time.perf_counter()
            descend(SWEPT[name], np.array([0.01]), task, w, 10, 300, 300, seed)
            times[name].append((time.perf_counter() - start) / 300 * 1e6)
    return {name: samples[1:] for name, samples in times.items()}  # the first round warms up
