"""Data parallelism (book 13.5): each device has the whole net and a share of the batch."""

from concurrent.futures import Executor

import torch
import torch.nn.functional as F
from torch import Tensor

from lab.parallel.replicas import allreduce, grad_of, split_batch
from lab.parallel.workers import parallel_map
from stages.parallelism.measure.layers import Layered, own, through
from stages.parallelism.measure.step import Devices
from stages.parallelism.measure.wires import Wires


class DataParallel:
    """Takes the gradient of a share of the batch on each replica, then their sum."""

    idle = 0.0

    def __init__(self, net: Layered, devices: Devices, pool: Executor) -> None:
        """Give each device a replica."""
        self.net, self.devices, self.pool = net, devices, pool
        self.params = [[own(p, d) for layer in net.params for p in layer] for d in devices]

    def take_gradient(self, X: Tensor, y: Tensor, wires: Wires) -> Tensor:
        """Each device goes forward and backward, then all gradients are summed."""

        def one(i: int, X: Tensor, y: Tensor) -> Tensor:
            with wires.keeping(i, self.params[i]):
                logits = through(self.net, range(len(self.net.params)), X, self.params[i])
                loss = F.cross_entropy(logits, y, reduction="sum")
            torch.autograd.backward(loss)
            return loss.detach()

        shards = split_batch(X, y, self.devices)
        losses = parallel_map(self.pool, one, range(len(self.devices)), *shards)
        for same in zip(*self.params, strict=True):
            gradients = [grad_of(p) for p in same]
            with wires.exchange(gradients):
                allreduce(gradients)
        return torch.stack([loss.to(self.devices[0]) for loss in losses]).sum()

    def gradients(self) -> list[Tensor]:
        """Those of the first replica."""
        return [grad_of(p) for p in self.params[0]]
