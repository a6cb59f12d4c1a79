"""Short runs of a net at a rate for each step, and what it is for one to diverge."""

import math

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from lab.data.images import Images
from lab.data.order import batches
from lab.optim.schedules import Schedule
from lab.parallel.replicas import forward_backward, sgd
from lab.results.stats import SMALLEST_EFFECT
from stages.schedules.measure.book_schedules import EPOCHS

# of a constant answer among ten classes; what comes within 2 % of it has learned nothing
NOTHING_LEARNED = math.log(10) * (1 - SMALLEST_EFFECT)
PARTS = 10  # of a run: over each its losses are averaged
Losses = NDArray[np.float64]


def stretched(schedule: Schedule, steps: int) -> list[float]:
    """The rate of each of `steps` steps, to which the schedule's 20 epochs are stretched."""
    return [schedule(EPOCHS * (step + 0.5) / steps) for step in range(steps)]


def train(
    net: nn.Module,
    train_set: Images,
    rates: list[float],
    batch_size: int,
    generator: torch.Generator,
) -> Losses:
    """Take a step of plain SGD at each rate; each step's mean loss before it.

    A run ends where its loss is not finite: the rest is infinite.
    """
    losses = np.full(len(rates), np.inf)
    order = batches(len(train_set.y), batch_size, generator)
    for step, lr in enumerate(rates):
        batch = train_set.at(next(order).to(train_set.y.device))
        loss = float(forward_backward(net, *batch)) / batch_size
        if not math.isfinite(loss):
            break
        losses[step] = loss
        sgd(net.parameters(), lr, batch_size)
    return losses


def parts(losses: Losses) -> Losses:
    """The mean loss of each tenth of a run (10,)."""
    return np.array([part.mean() for part in np.array_split(losses, PARTS)])


def diverged(losses: Losses) -> bool:
    """Whether the last tenth of a run is no better than a constant answer."""
    return bool(parts(losses)[-1] >= NOTHING_LEARNED)


def onset(losses: Losses) -> float:
    """The percent of a run that diverged before the tenths from which on it has learned nothing."""
    learned = np.flatnonzero(parts(losses) < NOTHING_LEARNED)
    return 100 * (learned[-1] + 1) / PARTS if len(learned) else 0.0
