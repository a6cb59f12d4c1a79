"""Many small networks trained at once, in one batched matrix product: cheap sweeps over seeds."""

import itertools
from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor

from lab.data.order import shuffled

WIDTHS = (196, 32, 32, 32, 10)  # 14 x 14 pixels, three hidden layers


class Outcome(NamedTuple):
    """Training loss per epoch (epochs, models), final test accuracy (models,), failed (models,).

    A model has failed if its loss is not finite or if it labels the test set no better than a
    constant answer.
    """

    losses: Tensor
    accuracy: Tensor
    failed: Tensor


def initial(seeds: list[int]) -> list[Tensor]:
    """He-initialised weights (models, in, out) and zero biases (models, 1, out) of each layer.

    There is a model for each seed; those of equal seeds are equal.
    """
    params: list[Tensor] = []
    generators = [torch.Generator().manual_seed(seed) for seed in seeds]
    for fan_in, fan_out in itertools.pairwise(WIDTHS):
        params.append(
            torch.stack(
                [
                    torch.randn(fan_in, fan_out, generator=g) * (2 / fan_in) ** 0.5
                    for g in generators
                ]
            )
        )
        params.append(torch.zeros(len(seeds), 1, fan_out))
    return params


def forward(X: Tensor, params: list[Tensor]) -> Tensor:
    """The logits (models, n, 10) of all models for the same X (n, 196)."""
    h = X
    for W, b in zip(params[::2], params[1::2], strict=True):
        h = (F.relu(h) if h is not X else h) @ W + b
    return h


def train(
    X: Tensor,
    y: Tensor,
    X_test: Tensor,
    y_test: Tensor,
    seeds: list[int],
    rates: Tensor,
    batch_size: int,
    seed: int,
) -> Outcome:
    """Train one model per column of `rates` with plain SGD, all on the same batches.

    Args:
        X, y: training set (n, 196), (n,); each epoch leaves out what fills no batch.
        X_test, y_test: test set.
        seeds: of each model's initial weights.
        rates: (steps, models), the rate of each model at each step.
        batch_size: examples per step.
        seed: of the order of the examples.
    """
    params = [p.requires_grad_() for p in initial(seeds)]
    steps_per_epoch = len(y) // batch_size
    generator = torch.Generator().manual_seed(seed)
    losses = []
    for epoch in range(len(rates) // steps_per_epoch):
        order = shuffled(len(y), generator)
        total = torch.zeros(len(seeds))
        for step in range(steps_per_epoch):
            rows = order[step * batch_size : (step + 1) * batch_size]
            logits = forward(X[rows], params)
            loss = F.cross_entropy(
                logits.flatten(0, 1), y[rows].repeat(len(seeds)), reduction="none"
            )
            loss = loss.view(len(seeds), -1).mean(1)
            grads = torch.autograd.grad(loss.sum(), params)
            lr = rates[epoch * steps_per_epoch + step].view(-1, 1, 1)
            with torch.no_grad():
                for p, g in zip(params, grads, strict=True):
                    p.sub_(lr * g)
            total += loss.detach()
        losses.append(total / steps_per_epoch)
    with torch.no_grad():
        accuracy = (forward(X_test, params).argmax(2) == y_test).double().mean(1)
    constant_answer = y_test.bincount().max() / len(y_test)
    return Outcome(
        torch.stack(losses), accuracy, ~losses[-1].isfinite() | (accuracy <= constant_answer)
    )
