"""Epochs to the target accuracy by batch size, for each rule or optimizer and seed."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from statistics import median

import numpy as np
import torch

from lab.data.images import Images
from lab.optim import schedules, update_rules
from lab.optim.schedules import Schedule
from lab.optim.update_rules import UpdateRule
from lab.parallel.workers import map_with_progress
from lab.results.curves import Curve, line
from lab.training.short_training import make_net
from lab.training.update_steps import RuleSteps, Step, sgd_step
from stages.convergence.measure.names import (
    BEST_RATE,
    EPOCHS,
    FIXED,
    LARS,
    MOMENTUM,
    REACHED,
    RULES,
    at_batch,
    of_net,
)
from stages.convergence.measure.params import NetParams
from stages.convergence.measure.train_to_target import Goal, Run, schedule, train_to_target

# how to make each for a rate, and the rate at which the search begins
OPTIMIZERS: dict[str, tuple[Callable[[float], UpdateRule], float]] = {
    MOMENTUM: (partial(update_rules.momentum, beta=0.9), 0.05),
    LARS: (update_rules.lars, 4.0),
}
CLIMBS = 8  # doublings of a rate, or halvings, at most


@dataclass(frozen=True)
class Trainer:
    """Runs of a net to the target, from any seed."""

    net: str
    side: int
    params: NetParams
    train_set: Images
    test_set: Images
    seed: int

    @property
    def target(self) -> float:
        """The accuracy to reach, 0 to 1."""
        return self.params.target_accuracy_percent / 100

    def run(self, lr: Schedule, batch_size: int, i: int, step: Step = sgd_step) -> Run:
        """A run from seed number i: its weights, and the order of the images."""
        generator = torch.Generator().manual_seed(self.seed + i)
        net = make_net(self.net, generator, self.side).to(self.train_set.y.device)
        goal = Goal(self.target, self.params.max_epochs)
        sets = self.train_set, self.test_set
        return train_to_target(net, *sets, lr, batch_size, goal, generator, step)

    def run_rule(self, job: tuple[str, int, int]) -> Run:
        """A run of plain SGD: rule, batch size, seed."""
        rule, batch_size, i = job
        p = self.params
        lr = schedule(rule, p.lr, batch_size, p.batch_sizes[0], p.warm_up_epochs)
        return self.run(lr, batch_size, i)

    def run_optimizer(self, job: tuple[str, float, int, int]) -> Run:
        """A run of an optimizer, behind a warm-up: its name, rate, batch size, seed."""
        name, rate, batch_size, i = job
        lr = schedules.warm_up(schedules.constant(rate), self.params.warm_up_epochs)
        return self.run(lr, batch_size, i, RuleSteps(OPTIMIZERS[name][0]))

    def cost(self, runs: Iterable[Run]) -> tuple[float, float]:
        """What a good rate makes small: median epochs, then how far the best reading fell short."""
        ended = list(runs)
        epochs = [r.epochs_to(self.target) if r.ending == "reached" else np.inf for r in ended]
        return median(epochs), -median(max(r.accuracies) for r in ended)


def measure_epochs(trainer: Trainer) -> Iterator[Curve]:
    """Each seed's epochs to the target by rule and batch size; optimizers at their best rates."""
    params, device = trainer.params, trainer.train_set.y.device
    seeds = range(params.num_seeds)
    smallest = params.batch_sizes[0]  # where all rules have one rate
    variants = [
        (rule, n)
        for n in reversed(params.batch_sizes)
        for rule in RULES
        if rule == FIXED or n != smallest
    ]
    jobs = [(rule, n, i) for rule, n in variants for i in seeds]
    runs = map_with_progress(of_net(EPOCHS, trainer.net), trainer.run_rule, jobs, device)
    for rule, n in sorted(variants, key=lambda variant: (RULES.index(variant[0]), variant[1])):
        yield from _curves(trainer, at_batch(rule, n), [runs[rule, n, i] for i in seeds])
    if params.tuning_seeds:
        yield from _at_best_rates(trainer, device)


def _at_best_rates(trainer: Trainer, device: torch.device) -> Iterator[Curve]:
    p = trainer.params
    smallest, largest = p.batch_sizes[0], p.batch_sizes[-1]
    tuning = range(p.num_seeds, p.num_seeds + p.tuning_seeds)  # none that is judged
    for name, n in ((MOMENTUM, smallest), (MOMENTUM, largest), (LARS, largest)):

        def cost(rate: float, name: str = name, n: int = n) -> tuple[float, float]:
            jobs = [(name, rate, n, i) for i in tuning]
            found = map_with_progress(at_batch(name, n), trainer.run_optimizer, jobs, device)
            return trainer.cost(found.values())

        rate = climb(cost, OPTIMIZERS[name][1])
        jobs = [(name, rate, n, i) for i in range(p.num_seeds)]
        yield line(of_net(BEST_RATE, trainer.net), at_batch(name, n), [0], [rate])
        ended = map_with_progress(at_batch(name, n), trainer.run_optimizer, jobs, device)
        yield from _curves(trainer, at_batch(name, n), list(ended.values()))


def climb(cost: Callable[[float], tuple[float, float]], first: float) -> float:
    """The rate of the least cost, from `first` on by factors of two while it falls."""
    best, least = first, cost(first)
    for factor in (2.0, 0.5):
        for _ in range(CLIMBS):
            found = cost(factor * best)
            if found >= least:
                break
            best, least = factor * best, found
        if best != first:  # it fell that way: the other way is uphill
            break
    return best


def _curves(trainer: Trainer, series: str, runs: list[Run]) -> Iterator[Curve]:
    """The epochs of a variant's runs by seed, and whether they reached the target."""
    seeds = range(len(runs))
    budget = trainer.params.max_epochs
    reached = [float(r.ending == "reached") for r in runs]
    epochs = [
        r.epochs_to(trainer.target) if ended else budget
        for r, ended in zip(runs, reached, strict=True)
    ]
    diverged = np.array([float(r.ending == "diverged") for r in runs])
    yield replace(line(of_net(EPOCHS, trainer.net), series, seeds, epochs), diverged=diverged)
    yield line(of_net(REACHED, trainer.net), series, seeds, reached)
