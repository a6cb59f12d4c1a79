"""Short runs of a net with any update rule, from He initialization.

A run has diverged if it becomes non-finite, or if it ends no better than a constant answer: by its
losses (`diverged`), or by its accuracy (`constant_answer`).
"""

import math
from collections.abc import Iterable, Iterator

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from lab.data import order
from lab.data.images import Images
from lab.nets.lenet import he_lenet_params, lenet, lenet_params
from lab.nets.models import MODELS
from lab.results.chance import CHANCE, NUM_CLASSES
from lab.results.stats import SMALLEST_EFFECT
from lab.training.accuracy import accuracy, logits_of
from lab.training.update_steps import BatchStep, sgd_step

# the loss of a constant answer, less 2 %: a run with more has learned nothing
NOTHING_LEARNED = math.log(NUM_CLASSES) * (1 - SMALLEST_EFFECT)
TENTHS = 10  # parts of a run over which its losses are averaged
Losses = NDArray[np.float64]


class SmallLeNet(nn.Module):
    """The notes' LeNet for images with sides of 14 to 28 pixels."""

    def __init__(self, generator: torch.Generator, side: int, notes_start: bool = False) -> None:
        """Draw weights by He initialization, or with `notes_start` as the notes do.

        The first dense layer's fan-in is the number of features.
        """
        super().__init__()
        params = lenet_params(generator) if notes_start else he_lenet_params(generator)
        features = num_features(side)
        narrower = 1.0 if notes_start else math.sqrt(len(params[4]) / features)
        params[4] = params[4][:features] * narrower
        self.params = nn.ParameterList(params)

    def forward(self, X: Tensor) -> Tensor:
        """Return logits (n, 10) for images X (n, 1, side, side)."""
        return lenet(X, list(self.params))


def make_net(name: str, generator: torch.Generator, side: int) -> nn.Module:
    """Return a net of lab.nets.models for images of `side` pixels; LeNet has He initialization.

    ResNet-18 takes images of any size, since it ends with an average over pixels.
    """
    return SmallLeNet(generator, side) if name == "lenet" else MODELS[name](generator)


def num_features(side: int) -> int:
    """Return the number of features of LeNet's convolutions for an image of `side` pixels."""
    return 50 * (((side - 2) // 2 - 4) // 2) ** 2


def batches_of(images: Images, batch_size: int, generator: torch.Generator) -> Iterator[Images]:
    """Yield batches without end, each epoch in a new order."""
    for rows in order.batches(len(images.y), batch_size, generator):
        yield images.at(rows.to(images.y.device))


def sgd_steps(
    net: nn.Module, batches: Iterable[Images], rates: Iterable[float], step: BatchStep = sgd_step
) -> Iterator[Tensor]:
    """Take one step per rate, each on a new batch; yield the batch's summed loss before it."""
    for lr, batch in zip(rates, batches, strict=False):  # rates first: takes no extra batch
        yield step(net, batch, lr)


def mean_of_tenths(losses: Losses) -> Losses:
    """Return the mean loss (10,) of each tenth of a run."""
    return np.array([part.mean() for part in np.array_split(losses, TENTHS)])


def diverged(losses: Losses) -> bool:
    """Return whether the last tenth of a run is no better than a constant answer."""
    return bool(mean_of_tenths(losses)[-1] >= NOTHING_LEARNED)


def constant_answer(images: Images) -> float:
    """Return the accuracy of the best answer that is the same for all images."""
    return float(images.y.bincount().max()) / len(images.y)


def finite_accuracy(net: nn.Module, images: Images) -> float:
    """Return the accuracy in evaluation mode; NaN if a logit is not finite."""
    logits = logits_of(net, images.X)
    return accuracy(logits, images.y) if bool(logits.isfinite().all()) else math.nan


def accuracy_or_chance(net: nn.Module, images: Images) -> float:
    """Return the accuracy in evaluation mode; that of guesses if a logit is not finite."""
    found = finite_accuracy(net, images)
    return CHANCE if math.isnan(found) else found
