"""A step over replicas by hand, and a replica's accuracy: what several experiments share."""

from collections.abc import Callable, Sequence

import torch
from torch import Tensor, nn

from lab.data.images import LabelledImages
from lab.parallel.replicas import forward_backward, sgd, split_batch, sum_gradients

CPU = torch.device("cpu")
Combine = Callable[[Sequence[nn.Module]], None]  # makes of the replicas' gradients what they use


def step(
    nets: Sequence[nn.Module], X: Tensor, y: Tensor, lr: float, combine: Combine = sum_gradients
) -> None:
    """Take a step of SGD, each replica on its shard of the batch, one replica after the other."""
    for net, X_shard, y_shard in zip(nets, *split_batch(X, y, [CPU] * len(nets)), strict=True):
        forward_backward(net, X_shard, y_shard)
    combine(nets)
    for net in nets:
        sgd(net.parameters(), lr, len(X))


@torch.no_grad()
def accuracy_percent(net: nn.Module, test_set: LabelledImages) -> float:
    """The share of uint8 test images that a net labels correctly, in evaluation mode."""
    images, labels = test_set
    net.eval()
    right = sum(
        int((net(X).argmax(1) == y).sum())
        for X, y in zip(images.split(1000), labels.split(1000), strict=True)
    )
    return 100 * right / len(labels)
