"""How long a net trains until it is good enough, by batch size and rate (book 13.5, 13.7).

A larger batch makes fewer steps of the same images. Whether it needs more images decides what many
devices gain.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, NamedTuple

import torch
from torch import Tensor, nn

from lab.data.order import shuffled
from lab.nets.lenet import lenet
from lab.optim import schedules
from lab.optim.schedules import Schedule
from lab.parallel.replicas import forward_backward, sgd
from lab.training.short_training import scaled_lenet_params
from stages.convergence.names import FIXED, WARM_UP

# images of a batch that are computed at once: larger pieces leave the caches, and sums stay sums
PIECE = 1024
READINGS_PER_OCTAVE = 4
Ending = Literal["reached", "not reached", "diverged"]


class Images(NamedTuple):
    """Images (n, 1, side, side), labels (n,), on one device."""

    X: Tensor
    y: Tensor


class ScaledLeNet(nn.Module):
    """The notes' LeNet for images of 14 to 28 pixels a side, with weights that learn at once."""

    def __init__(self, generator: torch.Generator, side: int) -> None:
        """Draw the weights; the first dense layer's fan-in is the number of features."""
        super().__init__()
        params, features = scaled_lenet_params(generator), num_features(side)
        params[4] = params[4][:features] * math.sqrt(len(params[4]) / features)
        self.params = nn.ParameterList(params)

    def forward(self, X: Tensor) -> Tensor:
        """The logits (n, 10) for images X (n, 1, side, side)."""
        return lenet(X, list(self.params))


def num_features(side: int) -> int:
    """How many numbers LeNet's convolutions make of an image of `side` pixels."""
    return 50 * (((side - 2) // 2 - 4) // 2) ** 2


def schedule(
    rule: str, lr: float, batch_size: int, smallest: int, warm_up_epochs: float
) -> Schedule:
    """The rate over the epochs by one of RULES; `lr` is the rate of the smallest batch.

    The scaled rates are lr * batch_size / smallest (Goyal et al. 2017), so that the same images
    move the weights as far.
    """
    if rule == FIXED:
        return schedules.constant(lr)
    scaled = schedules.constant(lr * batch_size / smallest)
    return schedules.warm_up(scaled, warm_up_epochs) if rule == WARM_UP else scaled


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

    @property
    def epochs_to_target(self) -> float:
        """The epochs of the reading that reached the target, infinity if none did."""
        return self.epochs[-1] if self.ending == "reached" else math.inf


def train_to_target(
    net: nn.Module,
    train_set: Images,
    test_set: Images,
    lr: Schedule,
    batch_size: int,
    goal: Goal,
    generator: torch.Generator,
) -> Run:
    """Train `net` with plain SGD until it reaches the goal or its budget ends.

    Readings are a quarter of an octave apart, 19 %, however large the batch: two batch sizes differ
    by more or not at all. A run has diverged if its logits leave the finite numbers, or if it ends
    no better than a constant answer. A remainder of the training set by `batch_size` is left out of
    each epoch.
    """
    epochs, accuracies = [], []
    constant_answer = float(test_set.y.bincount().max()) / len(test_set.y)
    steps_per_epoch = len(train_set.y) // batch_size
    order = _batches(len(train_set.y), batch_size, generator)
    read_at = set(readings(goal.max_epochs * steps_per_epoch, batch_size))
    for step in range(1, goal.max_epochs * steps_per_epoch + 1):
        rows = next(order).to(train_set.y.device)
        take_step(
            net, Images(train_set.X[rows], train_set.y[rows]), lr((step - 0.5) / steps_per_epoch)
        )
        if step not in read_at:
            continue
        accuracy = accuracy_of(net, test_set)
        epochs.append(step / steps_per_epoch)
        accuracies.append(0.0 if accuracy is None else accuracy)
        if accuracy is None:
            return Run(tuple(epochs), tuple(accuracies), "diverged")
        if accuracy >= goal.accuracy:
            return Run(tuple(epochs), tuple(accuracies), "reached")
    ending: Ending = "not reached" if accuracies[-1] > constant_answer else "diverged"
    return Run(tuple(epochs), tuple(accuracies), ending)


def take_step(net: nn.Module, batch: Images, lr: float) -> None:
    """Take one step of SGD on the mean loss of a batch, in pieces whose gradients add up."""
    for X, y in zip(batch.X.split(PIECE), batch.y.split(PIECE), strict=True):
        forward_backward(net, X, y)
    sgd(net.parameters(), lr, len(batch.y))


def accuracy_of(net: nn.Module, images: Images) -> float | None:
    """The share of images labelled right; None if a logit is not finite."""
    with torch.no_grad():
        logits = net(images.X)
    if not logits.isfinite().all():
        return None
    return float((logits.argmax(1) == images.y).double().mean())


def readings(num_steps: int, batch_size: int) -> list[int]:
    """The steps to read after: those nearest to 1024 images and each 19 % more, and the last."""
    octaves = math.log2(max(1, num_steps * batch_size / PIECE))
    grid = (
        PIECE * 2 ** (i / READINGS_PER_OCTAVE)
        for i in range(int(octaves * READINGS_PER_OCTAVE) + 1)
    )
    return sorted(
        {min(max(1, round(images / batch_size)), num_steps) for images in grid} | {num_steps}
    )


def _batches(n: int, batch_size: int, generator: torch.Generator) -> Iterator[Tensor]:
    """The rows of batch after batch, each epoch in an order of its own."""
    while True:
        yield from shuffled(n, generator)[: n - n % batch_size].split(batch_size)
