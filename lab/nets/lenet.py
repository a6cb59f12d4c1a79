"""LeNet from scratch, as the book writes it: a list of parameters and a function of them.

Convolutions use channels-last memory: the same arithmetic in an order that suits CPUs and GPUs.
"""

import math

import torch
import torch.nn.functional as F
from torch import Tensor

LENET_SHAPES = ((20, 1, 3, 3), (20,), (50, 20, 5, 5), (50,), (800, 128), (128,), (128, 10), (10,))
INIT_SCALE = 0.01


def lenet_params(generator: torch.Generator, width: int = 1) -> list[Tensor]:
    """Return the eight parameters of the book's LeNet (129,068 numbers, float32, on the CPU).

    Weights are 0.01 times a standard normal, biases are zero (section 13.5.2). A wider net has
    `width` times the channels and hidden units.
    """
    return [
        torch.randn(shape, generator=generator) * INIT_SCALE
        if len(shape) > 1
        else torch.zeros(shape)
        for shape in lenet_shapes(width)
    ]


def he_lenet_params(generator: torch.Generator, width: int = 1) -> list[Tensor]:
    """Return the same parameters with He initialization, N(0, 2 / fan-in) (He et al. 2015).

    With the notes' standard deviation of 0.01, the net stays at chance for the whole first epoch.
    """
    params = []
    for shape in lenet_shapes(width):
        fan_in = shape[0] if len(shape) == 2 else math.prod(shape[1:])
        random = torch.randn(shape, generator=generator) * (2 / fan_in) ** 0.5
        params.append(random if len(shape) > 1 else torch.zeros(shape))
    return params


def lenet_shapes(width: int) -> list[tuple[int, ...]]:
    """Return the parameters' shapes if every hidden layer is `width` times as wide."""
    fixed = {(0, 1), (6, 1), (7, 0)}  # images of one channel, ten classes
    return [
        tuple(
            size if (i, axis) in fixed or axis > 1 else size * width
            for axis, size in enumerate(shape)
        )
        for i, shape in enumerate(LENET_SHAPES)
    ]


def lenet(X: Tensor, params: list[Tensor]) -> Tensor:
    """Return logits (n, 10) of X (n, 1, 28, 28), by two pooled convolutions, two dense layers."""
    W1, b1, W2, b2, W3, b3, W4, b4 = params
    h1 = F.avg_pool2d(F.relu(F.conv2d(X, W1, b1), inplace=True), kernel_size=2, stride=2)
    h2 = F.avg_pool2d(F.relu(F.conv2d(h1, W2, b2), inplace=True), kernel_size=2, stride=2)
    if h2.requires_grad and h2.is_contiguous(memory_format=torch.channels_last):
        # flatten's gradient is not channels-last, and pooling's backward would be slow on it
        h2.register_hook(_channels_last)
    h3 = F.relu(h2.flatten(start_dim=1) @ W3 + b3)
    return h3 @ W4 + b4


def _channels_last(X: Tensor) -> Tensor:
    return X.contiguous(memory_format=torch.channels_last)
