"""Nets for a short budget under any update rule, from an initialisation that learns at once."""

import math

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from lab.data.images import Images
from lab.data.order import shuffled
from lab.nets.lenet import he_lenet_params, lenet, lenet_params
from lab.nets.models import MODELS, to_float
from lab.optim.update_rules import UpdateRule

TEST_PIECE = 1000  # images that are classified at once


class SmallLeNet(nn.Module):
    """The notes' LeNet for images of 14 to 28 pixels a side."""

    def __init__(self, generator: torch.Generator, side: int, notes_start: bool = False) -> None:
        """Draw weights that learn at once, or with `notes_start` those of the notes.

        The first dense layer's fan-in is the number of features.
        """
        super().__init__()
        params = lenet_params(generator) if notes_start else he_lenet_params(generator)
        features = num_features(side)
        narrower = 1.0 if notes_start else math.sqrt(len(params[4]) / features)
        params[4] = params[4][:features] * narrower
        self.params = nn.ParameterList(params)

    def forward(self, X: Tensor) -> Tensor:
        """The logits (n, 10) for images X (n, 1, side, side)."""
        return lenet(X, list(self.params))


def make_net(name: str, generator: torch.Generator, side: int) -> nn.Module:
    """A net of lab.nets.models for images of `side` pixels; LeNet from weights that learn at once.

    ResNet-18 takes images of any size, since it averages over them at its end.
    """
    return SmallLeNet(generator, side) if name == "lenet" else MODELS[name](generator)


def num_features(side: int) -> int:
    """How many numbers LeNet's convolutions make of an image of `side` pixels."""
    return 50 * (((side - 2) // 2 - 4) // 2) ** 2


def accuracy_of(net: nn.Module, images: Images) -> float | None:
    """The share of images labelled right, by the net in evaluation; None if a logit is not finite.

    The net comes back in the mode in which it was.
    """
    training = net.training
    net.eval()
    with torch.no_grad():
        logits = torch.cat([net(X) for X in images.X.split(TEST_PIECE)])
    net.train(training)
    if not logits.isfinite().all():
        return None
    return float((logits.argmax(1) == images.y).double().mean())


def accuracy_after(
    rule: UpdateRule,
    train_set: tuple[np.ndarray, np.ndarray],
    test_set: tuple[np.ndarray, np.ndarray],
    num_steps: int,
    batch_size: int,
    seed: int,
) -> float:
    """The share of test images that LeNet labels correctly after `num_steps` of the rule.

    The sets are uint8 images (n, 28, 28) and labels (n,). Batches are drawn without replacement
    from one permutation, the same for every rule. Weights that are no longer finite count as
    chance, a tenth.
    """
    generator = torch.Generator().manual_seed(seed)
    params = [p.requires_grad_() for p in he_lenet_params(generator)]
    states = [rule.init(p.detach()) for p in params]
    order = shuffled(len(train_set[1]), generator)
    for step in range(num_steps):
        rows = order[torch.arange(step * batch_size, (step + 1) * batch_size) % len(order)].numpy()
        X, y = to_float(torch.from_numpy(train_set[0][rows])), torch.from_numpy(train_set[1][rows])
        grads = torch.autograd.grad(F.cross_entropy(lenet(X, params), y), params)
        pairs = [
            rule.update(p.detach(), g, s) for p, g, s in zip(params, grads, states, strict=True)
        ]
        params, states = [p.requires_grad_() for p, _ in pairs], [s for _, s in pairs]
    with torch.no_grad():
        if not all(p.isfinite().all() for p in params):
            return 0.1
        logits = lenet(to_float(torch.tensor(test_set[0])), params)
    return float((logits.argmax(1) == torch.from_numpy(test_set[1])).double().mean())
