"""Every rule at many rates, on linear regressions (12.4 to 12.10), also with rare features.

Different seeds choose a rate and judge it.
"""

from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from typing import NamedTuple

import numpy as np
import torch
import torch._dynamo  # the first optimizer would, for seconds; once here for all fresh processes
import torch.nn.functional as F
from numpy.typing import NDArray
from torch import Tensor

from lab.core.shared_params import BenchParams
from lab.machine.allocator import disable_malloc_trim
from lab.machine.devices import processor
from lab.nets.lenet import lenet, lenet_params
from lab.optim import update_rules
from lab.optim.objectives import Array
from lab.optim.update_rules import UpdateRule
from lab.results.measurements import Measurement, by_seed, samples_at
from lab.timing.bench import in_unit, time_variants
from stages.optimizers.measure.names import BEST_RIVAL, COMPARED, COUNTING, DECAYING, RULES
from stages.optimizers.measure.regression import (
    BATCH_SIZE,
    SHARES,
    MakeRule,
    Problem,
    Trajectory,
    descend,
    initial,
)

SWEPT_RATES = (1e-4, 1e2)
NUM_STEPS = 300
EPSILONS = np.logspace(-12, 0, 7)  # the notes' 1e-6 and torch's 1e-8 are among them
MAKE_RULE: dict[str, MakeRule] = {
    **{rule.label: rule.make for rule in COMPARED.values()},
    DECAYING: update_rules.decaying_gd,
    COUNTING: update_rules.counting_gd,
}


class Sweep(NamedTuple):
    """Runs of rules on a problem, at each rate from twice `num_seeds` starts.

    The last `num_seeds` starts choose the best rates, and the first `num_seeds` judge them. `best`
    has the index in `rates` of each rule's best.
    """

    rates: Array
    num_seeds: int
    runs: Mapping[str, Trajectory]
    best: Mapping[str, int]

    def ends(self, rule: str) -> Array:
        """Return the final excess (seeds,) at the rule's best rate."""
        values: Array = self.runs[rule].excess[-1, self.best[rule], : self.num_seeds]
        return values

    def best_rate(self, rule: str) -> float:
        return float(self.rates[self.best[rule]])

    def best_of(self, rules: Iterable[str]) -> str:
        """Return the best rule by the choosing seeds, at best rates."""
        chosen = {
            rule: np.median(self.runs[rule].excess[-1, self.best[rule], self.num_seeds :])
            for rule in rules
        }
        return min(chosen, key=lambda rule: np.nan_to_num(chosen[rule], nan=np.inf))


def sweep(task: Problem, num_seeds: int, num_rates: int, seed: int) -> Sweep:
    """Run all rules on a problem."""
    rates = np.geomspace(*SWEPT_RATES, num_rates)
    w = initial(2 * num_seeds, task.X.shape[-1], seed)
    runs = {
        name: descend(make_rule, rates, task, w, BATCH_SIZE, NUM_STEPS, NUM_STEPS, seed)
        for name, make_rule in MAKE_RULE.items()
    }
    best = {name: best_place(run.excess[-1], num_seeds) for name, run in runs.items()}
    return Sweep(rates, num_seeds, runs, best)


def best_place(values: Array, num_seeds: int) -> int:
    """Return the index of the rate with the least median over the choosing seeds.

    `values` is (rates, all seeds). A rate with a diverged choosing seed does not count.
    """
    return int(np.argmin(np.nan_to_num(np.median(values[:, num_seeds:], 1), nan=np.inf)))


def by_rate(problem: str, found: Sweep) -> Iterator[Measurement]:
    """Yield the excess after two epochs against the rate."""
    for name in RULES:
        ends = found.runs[name].excess[-1, :, : found.num_seeds]
        yield from samples_at("rates", name, found.rates, list(ends), problem=problem)


def at_best_rates(problem: str, found: Sweep) -> Iterator[Measurement]:
    """Yield each rule's excess after two epochs at its best rate, and AdaGrad's best rival's."""
    rival = found.best_of(rule for rule in MAKE_RULE if rule != "AdaGrad")
    rules = {name: name for name in MAKE_RULE} | {BEST_RIVAL: rival}
    for name, rule in rules.items():
        yield by_seed("best_rate", name, found.ends(rule), found.best_rate(rule), problem=problem)


def epsilons(problem: str, task: Problem, found: Sweep, seed: int) -> Iterator[Measurement]:
    """Yield Adam's final excess at its best rate against epsilon, and at the best epsilon."""
    rate, num_seeds = found.best_rate("Adam"), found.num_seeds
    w = initial(2 * num_seeds, task.X.shape[-1], seed)

    def make_rule(epsilon: Array) -> UpdateRule:
        return update_rules.adam(rate, eps=epsilon)

    ends = descend(make_rule, EPSILONS, task, w, BATCH_SIZE, NUM_STEPS, NUM_STEPS, seed).excess[-1]
    judged = ends[:, :num_seeds]
    yield from samples_at("epsilons", "Adam", EPSILONS, list(judged), problem=problem)
    best = best_place(ends, num_seeds)
    yield by_seed("best_epsilon", "Adam", judged[best], float(EPSILONS[best]), problem=problem)


# --- rare features (12.7.1) ---

GROUPS = {"common": SHARES >= 1 / 10, "rare": SHARES <= 1 / 30}  # of the features
BIN = 10  # neighbouring features, from common to rare, per point of the figure


def feature_errors(task: Problem, found: Sweep) -> Iterator[Measurement]:
    """Yield the features' final weight errors at each rule's best rate.

    They are given against the share of rows that have the feature, and for common and rare ones.
    """
    bins = np.arange(len(SHARES)).reshape(-1, BIN)
    shares = [SHARES[members].mean() for members in bins]
    best = task.minimiser[: found.num_seeds]
    for rule in ("SGD", DECAYING, COUNTING, "AdaGrad"):
        weights = found.runs[rule].weights[found.best[rule], : found.num_seeds]
        errors = [error_left(weights, best, members) for members in bins]
        yield from samples_at("feature_errors", rule, shares, errors)
        for group, members in GROUPS.items():
            error = error_left(weights, best, members)
            yield by_seed("group_errors", rule, error, features=group)


def error_left(weights: Array, best: Array, members: NDArray[np.generic]) -> Array:
    """Return the mean square (seeds,) of some weights' errors, relative to the best weights.

    Both weights are (seeds, d). The result is about 1 at the start.
    """
    error, best = (weights - best)[:, members], best[:, members]
    return np.asarray((error**2).mean(1) / (best**2).mean(1))


# --- times of a step of LeNet ---

IMAGES = 256  # as in the notes' training


def step_times(process: int, params: BenchParams, threads: int) -> list[Measurement]:
    """Measure the milliseconds of a step with torch's SGD and AdaGrad."""
    disable_malloc_trim()  # trimming memory takes longer than an optimizer
    devices = processor(threads)
    generator = torch.Generator().manual_seed(0)
    X = torch.rand(IMAGES, 1, 28, 28, generator=generator)
    y = torch.randint(10, (IMAGES,), generator=generator)

    def weights() -> list[Tensor]:
        return [p.requires_grad_() for p in lenet_params(generator)]

    with_sgd, with_adagrad = weights(), weights()
    sgd, adagrad = torch.optim.SGD(with_sgd, lr=0.01), torch.optim.Adagrad(with_adagrad, lr=0.01)
    variants = {
        "step with SGD": partial(step, with_sgd, X, y, sgd),
        "step with AdaGrad": partial(step, with_adagrad, X, y, adagrad),
    }
    times = time_variants(variants, devices.devices, params, process, control="step with AdaGrad")
    return in_unit("step_time", IMAGES, times, "ms", devices)


def step(params: list[Tensor], X: Tensor, y: Tensor, optimizer: torch.optim.Optimizer) -> None:
    optimizer.zero_grad()
    F.cross_entropy(lenet(X, params), y).backward()
    optimizer.step()
