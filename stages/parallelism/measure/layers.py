"""Nets layer by layer, for devices that have all layers, some of them, or a share of each."""

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor, nn

IMAGE_PIXELS, NUM_CLASSES = 784, 10


class Layered(NamedTuple):
    """A net as a chain of layers, for images (n, 1, 28, 28).

    `functions` take the input, the weights, the biases; `params` are the latter two of each layer;
    `output_dims` are the dimensions of the weights along which output channels or units lie.
    """

    functions: Sequence[Callable[[Tensor, Tensor, Tensor], Tensor]]
    params: Sequence[tuple[Tensor, Tensor]]
    output_dims: Sequence[int]


def lenet_layers(net: nn.Module) -> Layered:
    """The notes' LeNet."""
    params = [p.detach() for p in net.parameters()]
    pairs = list(zip(params[::2], params[1::2], strict=True))
    return Layered((_convolution, _convolution, _dense, _output), pairs, (0, 0, 1, 1))


def wide_layers(units: int, generator: torch.Generator) -> Layered:
    """Four dense layers, three of `units` units: nearly all parameters, and few activations."""
    widths = (IMAGE_PIXELS, units, units, units, NUM_CLASSES)
    params = [
        (torch.randn(n, m, generator=generator) * (2 / n) ** 0.5, torch.zeros(m))
        for n, m in pairwise(widths)
    ]
    return Layered((_dense, _dense, _dense, _output), params, (1, 1, 1, 1))


def through(net: Layered, layers: Sequence[int], X: Tensor, params: Sequence[Tensor]) -> Tensor:
    """The output of some layers with a device's own weights and biases of these."""
    for layer, W, b in zip(layers, params[::2], params[1::2], strict=True):
        X = net.functions[layer](X, W, b)
    return X


def own(X: Tensor, device: torch.device) -> Tensor:
    """A parameter of `device`'s own: a copy that holds memory for nothing else."""
    return X.to(device).clone(memory_format=torch.contiguous_format).requires_grad_()


def _convolution(X: Tensor, W: Tensor, b: Tensor) -> Tensor:
    h = F.avg_pool2d(F.relu(F.conv2d(X, W, b), inplace=True), kernel_size=2)
    if h.requires_grad:
        h.register_hook(_channels_last)  # pooling's backward is slow on other gradients
    return h


def _channels_last(X: Tensor) -> Tensor:
    return X.contiguous(memory_format=torch.channels_last)


def _dense(X: Tensor, W: Tensor, b: Tensor) -> Tensor:
    return F.relu(X.flatten(start_dim=1) @ W + b)


def _output(X: Tensor, W: Tensor, b: Tensor) -> Tensor:
    return X @ W + b
