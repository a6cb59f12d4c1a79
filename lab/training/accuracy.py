"""A net's accuracy, computed in the same way for every form of training."""

import torch
from torch import Tensor, nn

PIECE = 1000  # images per forward pass


def accuracy(logits: Tensor, labels: Tensor) -> float:
    """Return the share of correctly labelled images, from logits (n, classes) and labels (n,)."""
    return float((logits.argmax(1) == labels).double().mean())


@torch.no_grad()
def logits_of(net: nn.Module, X: Tensor) -> Tensor:
    """Return the logits (n, classes) of images (n, ...) in evaluation mode.

    The net's mode is restored.
    """
    training = net.training
    net.eval()
    logits = torch.cat([net(part) for part in X.split(PIECE)])
    net.train(training)
    return logits
