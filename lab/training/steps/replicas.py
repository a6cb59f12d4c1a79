"""`replicas`: the book's data parallelism by hand (13.5), but gradients summed as one bucket."""

from functools import reduce

import torch
from torch import Tensor

from lab.parallel.flat_bucket import FlatBuckets
from lab.parallel.replicas import train_batch
from lab.training.model import BatchStep, Model


def replicas_step(model: Model) -> BatchStep:
    """Return the step of `train_batch` with a bucket for gradients on each device."""
    buckets = FlatBuckets(model.nets)

    def step(X: Tensor, y: Tensor, lr: float, batch_size: int) -> Tensor:
        losses = train_batch(
            X,
            y,
            model.nets,
            model.devices,
            lr,
            model.pool,
            buckets.sum_gradients,
            model.updates,
            model.loss,
        )
        return reduce(torch.add, (loss.to(model.devices[0]) for loss in losses))

    return step
