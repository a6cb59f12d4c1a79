"""ResNet-18 as the notes use it on 28 x 28 images (He et al. 2016; book 8.6, 13.6)."""

from math import sqrt

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from lab.core.shared_params import Stem


class Residual(nn.Module):
    """Two 3 x 3 convolutions with batch norm, added to their input.

    X (n, in_channels, h, w) becomes (n, out_channels, h / stride, w / stride), rounded up. If the
    shapes differ, a 1 x 1 convolution adapts the input.
    """

    def __init__(self, in_channels: int, out_channels: int, stride: int = 1) -> None:
        """Create the layers with torch's default weights."""
        super().__init__()
        self.conv1 = nn.Conv2d(in_channels, out_channels, 3, stride, padding=1)
        self.bn1 = nn.BatchNorm2d(out_channels)
        self.conv2 = nn.Conv2d(out_channels, out_channels, 3, padding=1)
        self.bn2 = nn.BatchNorm2d(out_channels)
        fits = stride == 1 and in_channels == out_channels
        self.shortcut = nn.Identity() if fits else nn.Conv2d(in_channels, out_channels, 1, stride)

    def forward(self, X: Tensor) -> Tensor:
        Y = self.bn2(self.conv2(F.relu(self.bn1(self.conv1(X)))))
        return F.relu(Y + self.shortcut(X))


def resnet18(generator: torch.Generator, stem: Stem = "small") -> nn.Sequential:
    """Return the notes' ResNet-18, for X (n, 1, 28, 28) and ten classes.

    Its small stem is a 3 x 3 convolution of stride 1 without max-pooling, which gives it 11,175,818
    parameters. The original stem, for large images, is a 7 x 7 convolution of stride 2 and 3 x 3
    max-pooling of stride 2, so the blocks get 7 x 7 pixels. As in the notes, every convolution
    keeps its bias, which the batch norm after it makes redundant. Weights are N(0, 0.01), biases
    are torch's default; both are drawn from `generator`.
    """
    blocks, in_channels = [], 64
    for out_channels, first_stride in ((64, 1), (128, 2), (256, 2), (512, 2)):
        blocks += [
            Residual(in_channels, out_channels, first_stride),
            Residual(out_channels, out_channels),
        ]
        in_channels = out_channels
    net = nn.Sequential(
        *_stem(stem), *blocks, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(512, 10)
    )
    for layer in net.modules():
        if isinstance(layer, nn.Conv2d | nn.Linear):
            bound = 1 / sqrt(layer.weight[0].numel())
            nn.init.normal_(layer.weight, 0, 0.01, generator)
            assert layer.bias is not None  # noqa: S101
            nn.init.uniform_(layer.bias, -bound, bound, generator)
    for param in net.parameters():
        # in the images' memory format, so that neither images nor gradients are transposed
        if param.ndim == 4:
            param.data = param.data.contiguous(memory_format=torch.channels_last)
    return net


def _stem(stem: Stem) -> list[nn.Module]:
    if stem == "small":
        return [nn.Conv2d(1, 64, 3, padding=1), nn.BatchNorm2d(64), nn.ReLU()]
    convolution = nn.Conv2d(1, 64, 7, stride=2, padding=3)
    return [convolution, nn.BatchNorm2d(64), nn.ReLU(), nn.MaxPool2d(3, stride=2, padding=1)]
