"""How long a net trains until it is good enough, by batch size and rate (book 13.5, 13.7).

A larger batch makes fewer steps of the same images. Whether it needs more images decides what many
devices gain.
"""

import math
from dataclasses import dataclass
from typing import Literal

import torch
from torch import nn

from lab.data.images import Images
from lab.data.order import batches
from lab.optim import schedules
from lab.optim.schedules import Schedule
from lab.training.short_training import accuracy, constant_answer
from lab.training.update_steps import Step, sgd_step
from stages.convergence.measure.names import FIXED, ROOT

FIRST_READING = 1024  # images before it
READINGS_PER_OCTAVE = 8
Ending = Literal["reached", "not reached", "diverged"]


def schedule(
    rule: str, lr: float, batch_size: int, smallest: int, warm_up_epochs: float
) -> Schedule:
    """The rate over the epochs by one of RULES; `lr` is the rate of the smallest batch.

    With SCALED it grows with the batch (Goyal et al. 2017), so that the same images move the
    weights as far; with ROOT as the batch's square root (Krizhevsky 2014), so that the noise of the
    steps moves them as far.
    """
    if rule == FIXED:
        return schedules.constant(lr)
    times = batch_size / smallest
    higher = lr * (math.sqrt(times) if rule == ROOT else times)
    return schedules.warm_up(schedules.constant(higher), warm_up_epochs)


@dataclass(frozen=True)
class Goal:
    """Where a run ends: at a test accuracy (0 to 1), or after `max_epochs` without it."""

    accuracy: float
    max_epochs: int


@dataclass(frozen=True)
class Run:
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
    step: Step = sgd_step,
) -> Run:
    """Train `net` until it reaches the goal or its budget ends.

    Readings are an eighth of an octave apart, 9 %, however large the batch. A run has diverged if
    its logits leave the finite numbers, or if it ends no better than a constant answer. A remainder
    of the training set by `batch_size` is left out of each epoch.
    """
    epochs, accuracies = [], []
    steps_per_epoch = len(train_set.y) // batch_size
    order = batches(len(train_set.y), batch_size, generator)
    read_at = set(readings(goal.max_epochs * steps_per_epoch, batch_size))
    for number in range(1, goal.max_epochs * steps_per_epoch + 1):
        batch = train_set.at(next(order).to(train_set.y.device))
        step(net, batch, lr((number - 0.5) / steps_per_epoch))
        if number not in read_at:
            continue
        reading = accuracy(net, test_set)
        epochs.append(number / steps_per_epoch)
        accuracies.append(0.0 if math.isnan(reading) else reading)
        if math.isnan(reading):
            return Run(tuple(epochs), tuple(accuracies), "diverged")
        if reading >= goal.accuracy:
            return Run(tuple(epochs), tuple(accuracies), "reached")
    ending: Ending = "not reached" if accuracies[-1] > constant_answer(test_set) else "diverged"
    return Run(tuple(epochs), tuple(accuracies), ending)


def readings(num_steps: int, batch_size: int) -> list[int]:
    """The steps to read after: those nearest to 1024 images and each 9 % more, and the last."""
    octaves = math.log2(max(1, num_steps * batch_size / FIRST_READING))
    grid = (
        FIRST_READING * 2 ** (i / READINGS_PER_OCTAVE)
        for i in range(int(octaves * READINGS_PER_OCTAVE) + 1)
    )
    return sorted(
        {min(max(1, round(images / batch_size)), num_steps) for images in grid} | {num_steps}
    )
