"""Every rule at many rates on linear regressions. Rates are chosen and judged with other seeds."""

from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple

import numpy as np
import torch

from lab.optim import update_rules
from lab.optim.objectives import Array
from lab.optim.update_rules import UpdateRule
from lab.results.curves import Curve, curve, line
from stages.optimizers.measure import names
from stages.optimizers.measure.linear_regression import Problem, Trajectory, descend, initial

SWEPT_RATES = (1e-4, 1e2)
NUM_STEPS = 300
EPSILONS = np.logspace(-12, 0, 7)  # the notes' and torch's are among them
NOTES_EPSILON = 1e-6
TORCHS_EPSILON: float = torch.optim.Adam([torch.zeros(1)]).defaults["eps"]
MakeRule = Callable[[Array], UpdateRule]
RULES: dict[str, MakeRule] = {
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
FALLING: dict[str, MakeRule] = {
    names.DECAYING: update_rules.decaying_gd,
    names.COUNTING: update_rules.counting_gd,
}


class Sweep(NamedTuple):
    """Runs of rules on a problem, at each rate from twice `num_seeds` starts.

    The first `num_seeds` judge what the others choose. `best` is each rule's best rate, its place
    in `rates`.
    """

    rates: Array
    num_seeds: int
    runs: Mapping[str, Trajectory]
    best: Mapping[str, int]

    def ends(self, rule: str) -> Array:
        """The excess (seeds,) at the end, at the rule's best rate."""
        values: Array = self.runs[rule].excess[-1, self.best[rule], : self.num_seeds]
        return values

    def best_rule(self) -> str:
        """The rule of RULES that is best, each at its best rate."""
        chosen = {
            rule: np.median(self.runs[rule].excess[-1, self.best[rule], self.num_seeds :])
            for rule in RULES
        }
        return min(chosen, key=lambda rule: np.nan_to_num(chosen[rule], nan=np.inf))


def best_rate(values: Array, num_seeds: int) -> int:
    """The place of the rate whose median over the choosing seeds is least; `values` (rates, all).

    A rate at which one of them diverged is none.
    """
    return int(np.argmin(np.nan_to_num(np.median(values[:, num_seeds:], 1), nan=np.inf)))


def sweep(task: Problem, num_seeds: int, num_rates: int, seed: int) -> Sweep:
    """All rules' runs on a problem."""
    rates = np.geomspace(*SWEPT_RATES, num_rates)
    w = initial(2 * num_seeds, task.X.shape[1], seed)
    runs = {
        name: descend(make_rule, rates, task, w, 10, NUM_STEPS, NUM_STEPS // 30, seed)
        for name, make_rule in (RULES | FALLING).items()
    }
    best = {name: best_rate(run.excess[-1], num_seeds) for name, run in runs.items()}
    return Sweep(rates, num_seeds, runs, best)


def sweep_curves(problem: str, found: Sweep) -> Iterator[Curve]:
    """For every rule, the final excess against the rate, and the descent at its best rate."""
    judged = slice(None, found.num_seeds)
    for name, run in found.runs.items():
        best = found.best[name]
        excess = run.excess[:, :, judged]
        if name in RULES:
            steps = list(run.diverged_step[:, judged])
            yield curve(names.RATES[problem], name, found.rates, list(excess[-1]), steps)
            series = names.at_rate(name, f"{found.rates[best]:.2g}")
            yield curve(names.BEST[problem], series, run.steps, list(excess[:, best]))
        yield _by_seed(names.BEST_ENDS[problem], name, found.ends(name))
    yield _by_seed(names.BEST_ENDS[problem], names.BEST_RULE, found.ends(found.best_rule()))


def decades(sweeps: Mapping[str, Sweep]) -> Iterator[Curve]:
    """By seed: decades of rates at which a rule ends within NEAR of the best rule, problems' mean.

    The grid's step is all that they resolve.
    """
    for rule in RULES:
        found = []
        for each in sweeps.values():
            ends = each.runs[rule].excess[-1, :, : each.num_seeds]
            near = ends <= names.NEAR * each.ends(each.best_rule())
            found.append(near.sum(0) * np.log10(each.rates[1] / each.rates[0]))
        yield _by_seed(names.DECADES, rule, np.mean(found, axis=0))


def epsilons(problem: str, task: Problem, found: Sweep, seed: int) -> Iterator[Curve]:
    """Adam's final excess at its best rate against epsilon."""
    rate, num_seeds = found.rates[found.best[names.ADAM]], found.num_seeds
    w = initial(2 * num_seeds, task.X.shape[1], seed)

    def make_rule(epsilon: Array) -> UpdateRule:
        return update_rules.adam(rate, eps=epsilon)

    ends = descend(make_rule, EPSILONS, task, w, 10, NUM_STEPS, NUM_STEPS, seed).excess[-1]
    yield curve(names.EPSILONS[problem], names.ADAM, EPSILONS, list(ends[:, :num_seeds]))
    for name, row in (
        (names.NOTES_EPSILON, _row_of(NOTES_EPSILON)),
        (names.TORCHS_EPSILON, _row_of(TORCHS_EPSILON)),
        (names.BEST_EPSILON, best_rate(ends, num_seeds)),
    ):
        yield _by_seed(names.EPSILON_ENDS[problem], name, ends[row, :num_seeds])


def _row_of(epsilon: float) -> int:
    return int(np.flatnonzero(np.isclose(EPSILONS, epsilon, atol=0))[0])


def _by_seed(experiment: str, series: str, values: Array) -> Curve:
    return line(experiment, series, np.arange(len(values)), values)
