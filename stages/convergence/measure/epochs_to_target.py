"""Epochs until a net reaches a target accuracy, by batch size and rate (book 13.5, 13.7).

With a larger batch, the same images make fewer steps. If training then needs more images, many
devices gain less.

In rows.csv a run that misses the target has the whole budget as its `epochs` and 0 as `reached`;
`diverged` is 1 if its logits became non-finite or it ended no better than a constant answer.
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

FIRST_READING = 4096  # images; no useful target is reached sooner
READINGS_PER_OCTAVE = 8
# each with its constructor from a rate, and the first rate to try
OPTIMIZERS: dict[str, tuple[Callable[[float], UpdateRule], float]] = {
    MOMENTUM: (update_rules.momentum, 0.05),
    LARS: (update_rules.lars, 4.0),
}
CLIMBS = 8  # most doublings or halvings of a rate
Ending = Literal["reached", "not reached", "diverged"]


def schedule(
    rule: str, lr: float, batch_size: int, smallest: int, warm_up_epochs: float
) -> Schedule:
    """Return the rate over the epochs by one of RULES; `lr` is the rate of the smallest batch.

    With SCALED, it grows with the batch (Goyal et al. 2017), so that the same images move the
    weights equally far.
    """
    if rule == FIXED:
        return schedules.constant(lr)
    return schedules.warm_up(schedules.constant(lr * batch_size / smallest), warm_up_epochs)


@dataclass(frozen=True)
class Goal:
    """The end of a run: at a test accuracy (0 to 1), or else after `max_epochs`."""

    accuracy: float
    max_epochs: int


@dataclass(frozen=True)
class RunToTarget:
    """The epochs of the readings, the test accuracies read, and how the run ended."""

    epochs: tuple[float, ...]
    accuracies: tuple[float, ...]
    ending: Ending

    def epochs_to(self, accuracy: float) -> float:
        """Return the epochs to `accuracy`, or all epochs of the run if it was not reached.

        Between the last two readings, the accuracy is interpolated linearly in the logarithm of the
        epochs, so that the result does not depend on the places of the readings.
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

    Readings are an eighth of an octave (9 %) apart for all batch sizes. A run has diverged if its
    logits become non-finite or if it ends no better than a constant answer. Each epoch leaves out
    the images that do not fill a batch.
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
    """Return the steps to read after: nearest to 4096 images and each 9 % more, and the last."""
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
    """Runs of a net to the target, for any seed."""

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
        """Run with seed number i, for the weights and the order of the images."""
        generator = torch.Generator().manual_seed(self.seed + i)
        net = make_net(self.net, generator, self.side).to(self.train_set.y.device)
        goal = Goal(self.target, self.params.max_epochs)
        sets = self.train_set, self.test_set
        return train_to_target(net, *sets, lr, batch_size, goal, generator, step)

    def run_rule(self, job: tuple[str, int, int]) -> RunToTarget:
        """Run plain SGD with a rule, a batch size and a seed number."""
        rule, batch_size, i = job
        p = self.params
        lr = schedule(rule, p.lr, batch_size, p.batch_sizes[0], p.warm_up_epochs)
        return self.run(lr, batch_size, i)

    def run_optimizer(self, job: tuple[str, float, int, int]) -> RunToTarget:
        """Run an optimizer after a warm-up, with its name, rate, batch size and seed number."""
        name, rate, batch_size, i = job
        lr = schedules.warm_up(schedules.constant(rate), self.params.warm_up_epochs)
        return self.run(lr, batch_size, i, RuleSteps(OPTIMIZERS[name][0]))

    def cost(self, runs: Iterable[RunToTarget]) -> tuple[float, float]:
        """Return the cost of a rate: median epochs, then (for ties) the negative best accuracy."""
        ended = list(runs)
        epochs = [r.epochs_to(self.target) if r.ending == "reached" else np.inf for r in ended]
        return median(epochs), -median(max(r.accuracies) for r in ended)


def measure_epochs(trainer: RunsToTarget) -> Iterator[Measurement]:
    """Yield epochs to the target by rule, batch size and seed; optimizers at their best rates."""
    params, device = trainer.params, trainer.train_set.y.device
    seeds = range(params.num_seeds)
    # at the smallest batch all rules have the same rate
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
    """Yield an optimizer's epochs at the best rate by other seeds."""
    p = trainer.params

    def runs(rate: float, seeds: Iterable[int]) -> list[RunToTarget]:
        jobs = [(name, rate, batch_size, i) for i in seeds]
        label, device = f"{name}, batch {batch_size}", trainer.train_set.y.device
        return list(map_with_progress(label, trainer.run_optimizer, jobs, device).values())

    tuning = range(p.num_seeds, p.num_seeds + p.tuning_seeds)  # not judged
    rate = climb(lambda rate: trainer.cost(runs(rate, tuning)), OPTIMIZERS[name][1])
    columns: dict[str, Cell] = {"net": trainer.net, "batch_size": batch_size}
    yield Measurement("best_rate", name, 0, (rate,), columns=columns)
    yield from _of_runs(trainer, name, batch_size, runs(rate, range(p.num_seeds)))


def climb(cost: Callable[[float], tuple[float, float]], first: float) -> float:
    """Search the rate of least cost, from `first` by factors of two while the cost falls."""
    best, least = first, cost(first)
    for factor in (2.0, 0.5):
        for _ in range(CLIMBS):
            found = cost(factor * best)
            if found >= least:
                break
            best, least = factor * best, found
        if best != first:  # the other direction is uphill
            break
    return best


def _of_runs(
    trainer: RunsToTarget, variant: str, batch_size: int, runs: list[RunToTarget]
) -> Iterator[Measurement]:
    """Yield the epochs of a variant's runs by seed, and which reached the target or diverged."""
    reached = [run.ending == "reached" for run in runs]
    epochs = [
        run.epochs_to(trainer.target) if ended else trainer.params.max_epochs
        for run, ended in zip(runs, reached, strict=True)
    ]
    diverged = [run.ending == "diverged" for run in runs]
    for experiment, values in (("epochs", epochs), ("reached", reached), ("diverged", diverged)):
        measured = by_seed(experiment, variant, values)
        yield replace(measured, columns={"net": trainer.net, "batch_size": batch_size})
