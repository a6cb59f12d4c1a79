"""`replicas`: the book's data parallelism by hand (13.5)."""

from collections.abc import Sequence
from functools import reduce

import torch
from torch import Tensor, nn

from lab.parallel.flat_bucket import FlatBuckets
from lab.parallel.replicas import train_batch
from lab.training.run_params import NOTES, RunParams
from lab.training.strategies.base import Strategy


class Replicas(Strategy):
    """The book's data parallelism, from scratch, but with all gradients summed in one go."""

    def __init__(
        self, net: nn.Module, devices: Sequence[torch.device], recipe: RunParams = NOTES
    ) -> None:
        """Copy the net to `devices`, with a bucket on each for its gradients."""
        super().__init__(net, devices, recipe)
        self._buckets = FlatBuckets(self.nets)

    def step(self, X: Tensor, y: Tensor, lr: float, batch_size: int) -> Tensor:
        """Take a step as `replicas.train_batch` does."""
        losses = train_batch(
            X,
            y,
            self.nets,
            self.devices,
            lr,
            self.pool,
            self._buckets.sum_gradients,
            self.updates,
            label_smoothing=self.recipe.label_smoothing,
        )
        return reduce(torch.add, (loss.to(self.devices[0]) for loss in losses))
