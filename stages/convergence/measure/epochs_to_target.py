"""How long a net trains until it is good enough, by batch size and rate (book 13.5, 13.7).

A larger batch makes fewer steps of the same images. Whether it needs more images decides what many
devices gain.

In rows.csv a run that misses the target has the whole budget as its `epochs` and 0 as `reached`;
`diverged` is 1 if its numbers became infinite or it ended no better than a constant answer.
"""

import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from statistics import median
from typing import Literal

import numpy as np
import torch
from torch import nn

from lab.data.images import Images
from lab.optim import schedules, update_rules
from lab.optim.schedules import Schedule
from lab.optim.update_rules import UpdateRule
from lab.parallel.workers import map_with_progress
from lab.results.measurements import Cell, Measurement, by_seed
from lab.training.short_training import (
    batches_of,
    constant_answer,
    finite_accuracy,
    make_net,
    sgd_steps,
)
from lab.training.update_steps import BatchStep, RuleSteps, sgd_step
from stages.convergence.measure.names import FIXED, LARS, MOMENTUM, RULES
from stages.convergence.measure.params import NetParams

FIRST_READING = 4096  # images before it: no run that is worth a target reaches it sooner
READINGS_PER_OCTAVE = 8
# how to make each for a rate, and the rate at which the search begins
OPTIMIZERS: dict[str, tuple[Callable[[float], UpdateRule], float]] = {
    MOMENTUM: (update_rules.momentum, 0.05),
    LARS: (update_rules.lars, 4.0),
}
CLIMBS = 8  # doublings of a rate, or halvings, at most
Ending = Literal["reached", "not reached", "diverged"]


def schedule(
    rule: str, lr: float, batch_size: int, smallest: int, warm_up_epochs: float
) -> Schedule:
    """The rate over the epochs by one of RULES; `lr` is the rate of the smallest batch.

    With SCALED it grows with the batch (Goyal et al. 2017), so that the same images move the
    weights as far.
    """
    if rule == FIXED:
        return schedules.constant(lr)
    return schedules.warm_up(schedules.constant(lr * batch_size / smallest), warm_up_epochs)


@dataclass(frozen=True)
class Goal:
    """Where a run ends: at a test accuracy (0 to 1), or after `max_epochs` without it."""

    accuracy: float
    max_epochs: int


@dataclass(frozen=True)
class RunToTarget:
    """The epochs of the readings, the test accuracies read, and how the run ended."""

    epochs: tuple[float, ...]
    accuracies: tuple[float, ...]
    ending: Ending

    def epochs_to(self, accuracy: float) -> float:
        """The epochs to a reading of `accuracy`, the run's whole epochs if there is none.

        Between the last reading under it and the one that reached it, the accuracy is taken to grow
        by the logarithm of the epochs: so the result does not hang on where readings are.
        """
        if self.ending != "reached" or len(self.epochs) == 1:
            return self.epochs[-1]
        (before, after), (low, high) = self.epochs[-2:], self.accuracies[-2:]
        share = (accuracy - low) / (high - low)
        return float(before * (after / before) ** share)


def train_to_target(
    net: nn.Module,
    train_set: Images,
    test_set: Images,
    lr: Schedule,
    batch_size: int,
    goal: Goal,
    generator: torch.Generator,
    step: BatchStep = sgd_step,
) -> RunToTarget:
    """Train `net` until it reaches the goal or its budget ends.

    Readings are an eighth of an octave apart, 9 %, however large the batch. A run has diverged if
    its logits leave the finite numbers, or if it ends no better than a constant answer. A remainder
    of the training set by `batch_size` is left out of each epoch.
    """
    epochs, accuracies = [], []
    steps_per_epoch = len(train_set.y) // batch_size
    num_steps = goal.max_epochs * steps_per_epoch
    rates = (lr((i + 0.5) / steps_per_epoch) for i in range(num_steps))
    batches = batches_of(train_set, batch_size, generator)
    read_at = set(readings(num_steps, batch_size))
    for number, _ in enumerate(sgd_steps(net, batches, rates, step), 1):
        if number not in read_at:
            continue
        reading = finite_accuracy(net, test_set)
        epochs.append(number / steps_per_epoch)
        accuracies.append(0.0 if math.isnan(reading) else reading)
        if math.isnan(reading):
            return RunToTarget(tuple(epochs), tuple(accuracies), "diverged")
        if reading >= goal.accuracy:
            return RunToTarget(tuple(epochs), tuple(accuracies), "reached")
    ending: Ending = "not reached" if accuracies[-1] > constant_answer(test_set) else "diverged"
    return RunToTarget(tuple(epochs), tuple(accuracies), ending)


def readings(num_steps: int, batch_size: int) -> list[int]:
    """The steps to read after: those nearest to 4096 images and each 9 % more, and the last."""
    octaves = math.log2(max(1, num_steps * batch_size / FIRST_READING))
    grid = (
        FIRST_READING * 2 ** (i / READINGS_PER_OCTAVE)
        for i in range(int(octaves * READINGS_PER_OCTAVE) + 1)
    )
    return sorted(
        {min(max(1, round(images / batch_size)), num_steps) for images in grid} | {num_steps}
    )


# --- by rule, batch size and seed


@dataclass(frozen=True)
class RunsToTarget:
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

    def run(self, lr: Schedule, batch_size: int, i: int, step: BatchStep = sgd_step) -> RunToTarget:
        """A run from seed number i: its weights, and the order of the images."""
        generator = torch.Generator().manual_seed(self.seed + i)
        net = make_net(self.net, generator, self.side).to(self.train_set.y.device)
        goal = Goal(self.target, self.params.max_epochs)
        sets = self.train_set, self.test_set
        return train_to_target(net, *sets, lr, batch_size, goal, generator, step)

    def run_rule(self, job: tuple[str, int, int]) -> RunToTarget:
        """A run of plain SGD: rule, batch size, seed."""
        rule, batch_size, i = job
        p = self.params
        lr = schedule(rule, p.lr, batch_size, p.batch_sizes[0], p.warm_up_epochs)
        return self.run(lr, batch_size, i)

    def run_optimizer(self, job: tuple[str, float, int, int]) -> RunToTarget:
        """A run of an optimizer, behind a warm-up: its name, rate, batch size, seed."""
        name, rate, batch_size, i = job
        lr = schedules.warm_up(schedules.constant(rate), self.params.warm_up_epochs)
        return self.run(lr, batch_size, i, RuleSteps(OPTIMIZERS[name][0]))

    def cost(self, runs: Iterable[RunToTarget]) -> tuple[float, float]:
        """What a good rate makes small: median epochs, then how far the best reading fell short."""
        ended = list(runs)
        epochs = [r.epochs_to(self.target) if r.ending == "reached" else np.inf for r in ended]
        return median(epochs), -median(max(r.accuracies) for r in ended)


def measure_epochs(trainer: RunsToTarget) -> Iterator[Measurement]:
    """Each seed's epochs to the target by rule and batch size; optimizers at their best rates."""
    params, device = trainer.params, trainer.train_set.y.device
    seeds = range(params.num_seeds)
    # at the smallest batch all rules have one rate
    smallest, largest = params.batch_sizes[0], params.batch_sizes[-1]
    variants = [
        (rule, n)
        for n in reversed(params.batch_sizes)
        for rule in RULES
        if rule == FIXED or n != smallest
    ]
    jobs = [(rule, n, i) for rule, n in variants for i in seeds]
    runs = map_with_progress(f"{trainer.net} to the target", trainer.run_rule, jobs, device)
    for rule, n in sorted(variants, key=lambda variant: (RULES.index(variant[0]), variant[1])):
        yield from _of_runs(trainer, rule, n, [runs[rule, n, i] for i in seeds])
    if params.tuning_seeds:
        for name, n in ((MOMENTUM, smallest), (MOMENTUM, largest), (LARS, largest)):
            yield from _at_best_rate(trainer, name, n)


def _at_best_rate(trainer: RunsToTarget, name: str, batch_size: int) -> Iterator[Measurement]:
    """An optimizer's epochs at the rate that other seeds found to be the best."""
    p = trainer.params

    def runs(rate: float, seeds: Iterable[int]) -> list[RunToTarget]:
        jobs = [(name, rate, batch_size, i) for i in seeds]
        label, device = f"{name}, batch {batch_size}", trainer.train_set.y.device
        return list(map_with_progress(label, trainer.run_optimizer, jobs, device).values())

    tuning = range(p.num_seeds, p.num_seeds + p.tuning_seeds)  # none that is judged
    rate = climb(lambda rate: trainer.cost(runs(rate, tuning)), OPTIMIZERS[name][1])
    columns: dict[str, Cell] = {"net": trainer.net, "batch_size": batch_size}
    yield Measurement("best_rate", name, 0, (rate,), columns=columns)
    yield from _of_runs(trainer, name, batch_size, runs(rate, range(p.num_seeds)))


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


def _of_runs(
    trainer: RunsToTarget, variant: str, batch_size: int, runs: list[RunToTarget]
) -> Iterator[Measurement]:
    """The epochs of a variant's runs by seed, and which reached the target or diverged."""
    reached = [run.ending == "reached" for run in runs]
    epochs = [
        run.epochs_to(trainer.target) if ended else trainer.params.max_epochs
        for run, ended in zip(runs, reached, strict=True)
    ]
    diverged = [run.ending == "diverged" for run in runs]
    for experiment, values in (("epochs", epochs), ("reached", reached), ("diverged", diverged)):
        measured = by_seed(experiment, variant, values)
        yield replace(measured, columns={"net": trainer.net, "batch_size": batch_size})
