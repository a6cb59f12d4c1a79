"""The notes' airfoil runs (12.5 to 12.10) from scratch: rule, rate, batch size and epochs."""

from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np

from lab.optim import update_rules
from lab.optim.objectives import Array
from lab.optim.update_rules import UpdateRule
from lab.results.curves import Curve, curve, line
from stages.optimizers.measure import names
from stages.optimizers.measure.linear_regression import Problem, descend, initial


class Run(NamedTuple):
    """One of the notes' airfoil runs, or one to compare with them."""

    make_rule: Callable[[Array], UpdateRule]
    rate: float
    batch_size: int = 10
    num_epochs: int = 2


NOTES_RUNS: dict[str, Run] = {
    names.GD_1: Run(update_rules.gd, 1.0, batch_size=1500, num_epochs=10),
    names.SGD_BATCH_1: Run(update_rules.gd, 0.005, batch_size=1, num_epochs=1),
    names.SGD_BATCH_100: Run(update_rules.gd, 0.4, batch_size=100),
    names.SGD_BATCH_10: Run(update_rules.gd, 0.05),
    names.MOMENTUM_05_002: Run(lambda lr: update_rules.momentum(lr, 0.5), 0.02),
    names.MOMENTUM_002: Run(lambda lr: update_rules.momentum(lr, 0.9), 0.02),
    names.MOMENTUM_001: Run(lambda lr: update_rules.momentum(lr, 0.9), 0.01),
    names.MOMENTUM_0005: Run(lambda lr: update_rules.momentum(lr, 0.9), 0.005),
    names.ADAGRAD_01: Run(update_rules.adagrad, 0.1),
    names.RMSPROP_001: Run(update_rules.rmsprop, 0.01),
    names.ADADELTA_RHO_09: Run(lambda lr: update_rules.adadelta(lr=lr), 1.0),
    names.ADAM_001: Run(update_rules.adam, 0.01),
    names.ADAM_EPSILON_INSIDE: Run(lambda lr: update_rules.adam(lr, inside=True), 0.01),
    names.ADAM_UNCORRECTED: Run(lambda lr: update_rules.adam(lr, correct=False), 0.01),
    names.YOGI_001: Run(update_rules.yogi, 0.01),
}


def notes_runs(task: Problem, num_seeds: int, seed: int) -> Iterator[Curve]:
    """Excess over the minimum against epochs of each run, and by seed: its end and its worst."""
    w = initial(num_seeds, task.X.shape[1], seed)
    seeds = np.arange(num_seeds)
    for name, run in NOTES_RUNS.items():
        per_epoch = len(task.X) // run.batch_size
        result = descend(
            run.make_rule,
            np.array([run.rate]),
            task,
            w,
            run.batch_size,
            run.num_epochs * per_epoch,
            max(1, per_epoch // 8),
            seed,
        )
        excess = result.excess[:, 0]  # (checks, seeds)
        yield curve(names.NOTES_RUNS, name, result.steps / per_epoch, list(excess))
        yield line(names.ENDS, name, seeds, excess[-1])
        late = excess[result.steps >= per_epoch]
        yield line(names.WORST, name, seeds, late.max(0) / excess[0])
