"""How many images a net labels right: the same for every way to train."""

import torch
from torch import Tensor, nn

PIECE = 1000  # images that are classified at once


def accuracy(logits: Tensor, labels: Tensor) -> float:
    """The share of images, of logits (n, classes), that are labelled right."""
    return float((logits.argmax(1) == labels).double().mean())


@torch.no_grad()
def logits_of(net: nn.Module, X: Tensor) -> Tensor:
    """The logits (n, classes) of images (n, ...), by the net in evaluation mode.

    The net comes back in the mode in which it was.
    """
    training = net.training
    net.eval()
    logits = torch.cat([net(part) for part in X.split(PIECE)])
    net.train(training)
    return logits
