"""Small nets that learn Fashion-MNIST fast, for records; they are not from the notes."""

import torch
from torch import Tensor, nn


def convnet(generator: torch.Generator, *widths: int, again: bool = False) -> nn.Sequential:
    """Return 3 x 3 convolutions of `widths` channels and a linear layer, for X (n, 1, 28, 28).

    Max-pooling, which halves both sides, batch norm and ReLU follow each convolution. Pooling is
    first, so that the other two process a quarter of the numbers. With `again`, each such block but
    the first is followed by one more convolution of equal width, batch norm and ReLU. Weights are
    drawn from `generator` as torch initializes them. Batch norm hides their scale, and such small
    weights change direction faster than He's.
    """
    layers: list[nn.Module] = []
    side, in_channels = 28, 1
    for width in widths:
        layers += [
            nn.Conv2d(in_channels, width, 3, padding=1, bias=False),
            nn.MaxPool2d(2),
            nn.BatchNorm2d(width),
            nn.ReLU(inplace=True),
        ]
        if again and in_channels > 1:
            layers += [
                nn.Conv2d(width, width, 3, padding=1, bias=False),
                nn.BatchNorm2d(width),
                nn.ReLU(inplace=True),
            ]
        side, in_channels = side // 2, width
    net = nn.Sequential(*layers, nn.Flatten(), nn.Linear(in_channels * side**2, 10))
    as_torch_draws(net, generator)
    return net.to(memory_format=torch.channels_last)  # type: ignore[call-overload,no-any-return,unused-ignore]


def mlp(generator: torch.Generator, width: int) -> nn.Sequential:
    """Return a net with one hidden layer of `width` units."""
    layers = (nn.Flatten(), nn.Linear(784, width), nn.ReLU(), nn.Linear(width, 10))
    return he(nn.Sequential(*layers), generator)


def as_torch_draws(net: nn.Sequential, generator: torch.Generator) -> None:
    """Draw all weights and biases from U(-1, 1) / sqrt(fan-in)."""
    for layer in net:
        if isinstance(layer, nn.Conv2d | nn.Linear):
            end = layer.weight[0].numel() ** -0.5
            for param in layer.parameters():
                nn.init.uniform_(param, -end, end, generator=generator)


def he(net: nn.Sequential, generator: torch.Generator) -> nn.Sequential:
    """Return the net after He initialization: weights N(0, 2 / fan-in), biases zero."""
    for layer in net:
        if isinstance(layer, nn.Conv2d | nn.Linear):
            nn.init.kaiming_normal_(layer.weight, nonlinearity="relu", generator=generator)
            if isinstance(layer.bias, Tensor):
                nn.init.zeros_(layer.bias)
    return net
