"""What Adam's correction of its averages does (12.10), on the airfoil regression."""

from collections.abc import Callable, Iterator, Mapping
from functools import partial

import numpy as np

from lab.optim import update_rules
from lab.optim.objectives import Array
from lab.optim.update_rules import UpdateRule
from lab.results.curves import Curve, line
from stages.optimizers.measure import names
from stages.optimizers.measure.linear_regression import Problem, descend, initial

RATE, BATCH_SIZE = 0.01, 10  # of the notes' Adam
RUNS_PER_SEED = 40  # where a run ends depends much on its batches; a seed's value is their mean

# RMSProp's epsilon stands beside the root, as Adam's, so that only the correction differs
RULES: Mapping[str, Callable[[Array], UpdateRule]] = {
    names.ADAM: update_rules.adam,
    names.FIRST_GRADIENT: update_rules.adam_from_first_gradient,
} | {
    name: make_rule
    for decay in names.DECAYS
    for name, make_rule in (
        (names.RMSPROP_AT[decay], partial(update_rules.rmsprop, gamma=decay, inside=False)),
        (names.NO_MOMENTUM_AT[decay], partial(update_rules.adam, beta1=0.0, beta2=decay)),
    )
}


def corrections(task: Problem, num_seeds: int, seed: int) -> Iterator[Curve]:
    """By seed: the mean excess of each rule's runs after two and after four epochs."""
    w = initial(num_seeds * RUNS_PER_SEED, task.X.shape[1], seed)
    per_epoch = len(task.X) // BATCH_SIZE
    num_steps = max(names.BIAS_CORRECTION) * per_epoch
    for name, make_rule in RULES.items():
        run = descend(make_rule, np.array([RATE]), task, w, BATCH_SIZE, num_steps, per_epoch, seed)
        for epochs, experiment in names.BIAS_CORRECTION.items():
            means = run.excess[epochs, 0].reshape(num_seeds, RUNS_PER_SEED).mean(1)
            yield line(experiment, name, np.arange(num_seeds), means)
