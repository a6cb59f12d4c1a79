"""Every rule at many rates on linear regressions, and how long its steps take."""

import time
from collections.abc import Callable, Iterator

import numpy as np

from lab.optim import update_rules
from lab.optim.objectives import Array
from lab.optim.update_rules import UpdateRule
from lab.results.curves import Curve, curve
from stages.optimizers import names
from stages.optimizers.linear_regression import Problem, descend, initial

SWEPT_RATES = (1e-4, 1e2)
NUM_STEPS = 300
RULES: dict[str, Callable[[Array], UpdateRule]] = {
    names.SGD: update_rules.gd,
    names.MOMENTUM: lambda lr: update_rules.momentum(lr, 0.9),
    names.NESTEROV: lambda lr: update_rules.nesterov(lr, 0.9),
    names.ADAGRAD: update_rules.adagrad,
    names.RMSPROP: update_rules.rmsprop,
    names.ADADELTA: lambda lr: update_rules.adadelta(lr=lr),
    names.ADAM: update_rules.adam,
    names.ADAMW: update_rules.adamw,
    names.YOGI: update_rules.yogi,
}


def sweep(
    problem: str, task: Problem, num_seeds: int, num_rates: int, seed: int
) -> Iterator[Curve]:
    """For every rule, the final excess against the rate, and the descent at its best rate."""
    rates = np.geomspace(*SWEPT_RATES, num_rates)
    w = initial(num_seeds, task.X.shape[1], seed)
    for name, make_rule in RULES.items():
        result = descend(make_rule, rates, task, w, 10, NUM_STEPS, NUM_STEPS // 30, seed)
        final = result.excess[-1]
        yield curve(names.RATES[problem], name, rates, list(final), list(result.diverged_step))
        typical = np.array(
            [np.median(each) if np.isfinite(each).all() else np.inf for each in final]
        )
        best = int(np.argmin(typical))
        series = names.at_rate(name, f"{rates[best]:.2g}")
        yield curve(names.BEST[problem], series, result.steps, list(result.excess[:, best]))


def step_times(task: Problem, num_runs: int, seed: int) -> Iterator[Curve]:
    """Microseconds per step of each rule, over runs of NUM_STEPS in alternating order."""
    w = initial(1, task.X.shape[1], seed)
    times: dict[str, list[float]] = {name: [] for name in RULES}
    for round_ in range(num_runs + 1):
        for name in list(RULES)[:: 1 if round_ % 2 else -1]:
            start = time.perf_counter()
            descend(RULES[name], np.array([0.01]), task, w, 10, NUM_STEPS, NUM_STEPS, seed)
            times[name].append((time.perf_counter() - start) / NUM_STEPS * 1e6)
    for name, samples in times.items():  # the first round warms up
        yield curve(names.STEP_TIME, name, [NUM_STEPS], [np.array(samples[1:])])
