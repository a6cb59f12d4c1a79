"""Tensor parallelism: each device has a share of every layer's output channels or units."""

from concurrent.futures import Executor
from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor

from lab.parallel.replicas import grad_of
from lab.parallel.workers import parallel_map
from stages.parallelism.measure.layers import Layered, own
from stages.parallelism.measure.step import Devices
from stages.parallelism.measure.wires import Wires

Share = tuple[Tensor, Tensor]  # of a layer: weights, biases


class Passed(NamedTuple):
    """What a layer leaves for the backward pass."""

    outputs: list[Tensor]  # each device's share
    gathered: list[Tensor]  # all shares, on each device that needs them


class TensorParallel:
    """Takes the gradient with a share of each layer on each device.

    After a layer each device sends its share of the output to all others (an all-gather), as the
    next layer needs all of it; in the backward pass each sends its part of the gradient back to the
    share's owner, who adds (a reduce-scatter). The logits go to the first device alone, which has
    the loss.
    """

    idle = 0.0

    def __init__(self, net: Layered, devices: Devices, pool: Executor) -> None:
        """Give each device its shares."""
        self.net, self.devices, self.pool = net, devices, pool
        self.shares = [
            _shares(W, b, dim, devices)
            for (W, b), dim in zip(net.params, net.output_dims, strict=True)
        ]
        self.params = [[p for layer in self.shares for p in layer[i]] for i in range(len(devices))]

    def take_gradient(self, X: Tensor, y: Tensor, wires: Wires) -> Tensor:
        """Layer by layer forward and back, the devices side by side."""
        whole, passed = [X.to(device) for device in self.devices], []
        for layer in range(len(self.shares)):
            passed.append(self._forward(layer, whole, wires))
            whole = passed[-1].gathered
        with wires.keeping(0, self.params[0]):
            loss = F.cross_entropy(whole[0], y.to(self.devices[0]), reduction="sum")
        torch.autograd.backward(loss)
        for outputs, gathered in reversed(passed):
            self._backward(outputs, gathered, wires)
        return loss.detach()

    def gradients(self) -> list[Tensor]:
        """Each layer's shares side by side again, on the first device."""
        return [
            torch.cat([grad_of(share[j]).to(self.devices[0]) for share in layer], dim * (j == 0))
            for layer, dim in zip(self.shares, self.net.output_dims, strict=True)
            for j in (0, 1)
        ]

    def _forward(self, layer: int, whole: list[Tensor], wires: Wires) -> Passed:
        """Compute a layer's shares, then gather them on all devices, or the logits on the first."""

        def compute(i: int) -> Tensor:
            with wires.keeping(i, self.params[i]):
                return self.net.functions[layer](whole[i], *self.shares[layer][i])

        def gather(target: int) -> Tensor:
            to = self.devices[target]
            sent = [wires.send(h, i, target, to, "forward") for i, h in enumerate(outputs)]
            return torch.cat(sent, 1).requires_grad_()

        devices = range(len(self.devices))
        outputs = parallel_map(self.pool, compute, devices)
        is_last = layer + 1 == len(self.shares)
        return Passed(outputs, parallel_map(self.pool, gather, devices[:1] if is_last else devices))

    def _backward(self, outputs: list[Tensor], gathered: list[Tensor], wires: Wires) -> None:
        """Send each share's gradients to its owner, and go back through its layer."""
        sizes = [h.shape[1] for h in outputs]
        grads = [grad_of(h).split(sizes, dim=1) for h in gathered]

        def back(i: int) -> None:
            received = [
                wires.send(grad[i], source, i, self.devices[i], "backward")
                for source, grad in enumerate(grads)
            ]
            torch.autograd.backward(outputs[i], torch.stack(received).sum(0))

        parallel_map(self.pool, back, range(len(self.devices)))


def _shares(W: Tensor, b: Tensor, dim: int, devices: Devices) -> list[Share]:
    """Each device's share of a layer, whose outputs lie along `dim` of its weights."""
    parts = zip(
        W.tensor_split(len(devices), dim), b.tensor_split(len(devices)), devices, strict=True
    )
    return [(own(W_share, device), own(b_share, device)) for W_share, b_share, device in parts]
