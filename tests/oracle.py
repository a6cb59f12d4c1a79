"""Training on one device, by plain autograd: the oracle of all parallel variants."""

import copy
from collections.abc import Iterable

import torch
import torch.nn.functional as F
from torch import Tensor, nn


def gradients(net: nn.Module, X: Tensor, y: Tensor) -> list[Tensor]:
    """Return the gradient of the batch's mean loss with respect to each parameter."""
    return list(torch.autograd.grad(F.cross_entropy(net(X), y), list(net.parameters())))


def one_device(net: nn.Module, batches: Iterable[tuple[Tensor, Tensor]], lr: float) -> nn.Module:
    """Return a copy of `net` after a step of plain SGD on each whole batch."""
    trained = copy.deepcopy(net)
    for X, y in batches:
        found = gradients(trained, X, y)
        with torch.no_grad():
            for p, gradient in zip(trained.parameters(), found, strict=True):
                p.sub_(lr * gradient)
    return trained


def assert_close(net: nn.Module, other: nn.Module, **tolerance: float) -> None:
    """Assert equal parameters, within torch's tolerances for their type or the given ones."""
    for p, q in zip(net.parameters(), other.parameters(), strict=True):
        torch.testing.assert_close(p, q, **tolerance)


def assert_same(net: nn.Module, other: nn.Module) -> None:
    """Assert bit-for-bit identical parameters."""
    assert_close(net, other, rtol=0, atol=0)
