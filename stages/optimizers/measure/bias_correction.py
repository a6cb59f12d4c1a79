"""What Adam's correction of its averages does (12.10), on the airfoil regression."""

from collections.abc import Callable, Iterator
from functools import partial

import numpy as np

from lab.optim import update_rules
from lab.optim.objectives import Array
from lab.optim.update_rules import UpdateRule
from lab.results.curves import Curve, line
from stages.optimizers.measure import names
from stages.optimizers.measure.linear_regression import Problem, descend, initial

RATE, BATCH_SIZE, NUM_STEPS = 0.01, 10, 300  # of the notes' Adam: two epochs
RUNS_PER_SEED = 40  # where a run ends depends much on its batches; a seed's value is their mean

# RMSProp's epsilon stands beside the root, as Adam's, so that only the correction differs
RULES: dict[str, Callable[[Array], UpdateRule]] = {
    name: make_rule
    for decay in names.DECAYS
    for name, make_rule in (
        (names.RMSPROP_AT[decay], partial(update_rules.rmsprop, gamma=decay, inside=False)),
        (names.NO_MOMENTUM_AT[decay], partial(update_rules.adam, beta1=0.0, beta2=decay)),
    )
}


def corrections(task: Problem, num_seeds: int, seed: int) -> Iterator[Curve]:
    """By seed: the mean excess in which each rule's runs end."""
    w = initial(num_seeds * RUNS_PER_SEED, task.X.shape[1], seed)
    for name, make_rule in RULES.items():
        found = descend(
            make_rule, np.array([RATE]), task, w, BATCH_SIZE, NUM_STEPS, NUM_STEPS, seed
        )
        ends = found.excess[-1, 0].reshape(num_seeds, RUNS_PER_SEED).mean(1)
        yield line(names.BIAS_CORRECTION, name, np.arange(num_seeds), ends)
