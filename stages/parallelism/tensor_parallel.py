"""Tensor parallelism: each device has a share of every layer's output channels or units."""

from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from lab.parallel.replicas import grad_of
from stages.parallelism.byte_counter import ByteCounter
from stages.parallelism.lenet_layers import LAYERS, OUTPUT_DIMS, layer_params, own
from stages.parallelism.step import Devices, Step

Share = tuple[Tensor, Tensor]  # of a layer: weights, biases


class Passed(NamedTuple):
    """What a layer leaves for the backward pass."""

    outputs: list[Tensor]  # each device's share
    gathered: list[Tensor]  # all shares, on each device that needs them


def tensor_parallel(net: nn.Module, X: Tensor, y: Tensor, devices: Devices) -> Step:
    """Take the gradient with a share of each layer on each device.

    After a layer each device sends its share of the output to all others (an all-gather), as the
    next layer needs all of it; in the backward pass each sends its part of the gradient back to the
    share's owner, who adds (a reduce-scatter). The logits go to the first device alone, which has
    the loss.
    """
    counter = ByteCounter(devices)
    shares = [
        _shares(W, b, dim, devices)
        for (W, b), dim in zip(layer_params(net), OUTPUT_DIMS, strict=True)
    ]
    params = [[p for layer in shares for p in layer[i]] for i in range(len(devices))]
    whole, passed = [X.to(device) for device in devices], []
    for layer in range(len(LAYERS)):
        passed.append(_forward(layer, whole, shares[layer], params, counter))
        whole = passed[-1].gathered
    with counter.keeping(0, params[0]):
        loss = F.cross_entropy(whole[0], y.to(devices[0]), reduction="sum")
    torch.autograd.backward(loss)
    for outputs, gathered in reversed(passed):
        _backward(outputs, gathered, counter)
    gradients = [
        torch.cat([grad_of(share[j]).to(devices[0]) for share in layer], dim if j == 0 else 0)
        for layer, dim in zip(shares, OUTPUT_DIMS, strict=True)
        for j in (0, 1)
    ]
    return Step(loss.item(), gradients, counter.moved, counter.memory(params))


def _shares(W: Tensor, b: Tensor, dim: int, devices: Devices) -> list[Share]:
    """Each device's share of a layer, whose outputs lie along `dim` of its weights."""
    parts = zip(
        W.tensor_split(len(devices), dim), b.tensor_split(len(devices)), devices, strict=True
    )
    return [(own(W_share, device), own(b_share, device)) for W_share, b_share, device in parts]


def _forward(
    layer: int,
    whole: list[Tensor],
    shares: list[Share],
    params: list[list[Tensor]],
    counter: ByteCounter,
) -> Passed:
    """Compute a layer's shares, then gather them on all devices, or the logits on the first."""
    outputs = []
    for i, (X, share) in enumerate(zip(whole, shares, strict=True)):
        with counter.keeping(i, params[i]):
            outputs.append(LAYERS[layer](X, *share))
    targets = range(len(shares) if layer + 1 < len(LAYERS) else 1)
    gathered = [
        torch.cat([counter.send(h, i, target, "forward") for i, h in enumerate(outputs)], 1)
        for target in targets
    ]
    return Passed(outputs, [h.requires_grad_() for h in gathered])


def _backward(outputs: list[Tensor], gathered: list[Tensor], counter: ByteCounter) -> None:
    """Send each share's gradients to its owner, and go back through its layer."""
    sizes = [h.shape[1] for h in outputs]
    grads = [grad_of(h).split(sizes, dim=1) for h in gathered]
    for i, h in enumerate(outputs):
        received = [
            counter.send(grad[i], source, i, "backward") for source, grad in enumerate(grads)
        ]
        torch.autograd.backward(h, torch.stack(received).sum(0))
