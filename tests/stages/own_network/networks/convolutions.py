"""Large convolutions with what stands between them."""

import torch
from torch import nn

BATCH_SIZE = 8


def make_net():
    layers = [nn.Conv2d(3, 64, 3, padding=1), nn.ReLU()]
    for _ in range(2):
        layers += [nn.Conv2d(64, 64, 3, padding=1), nn.BatchNorm2d(64), nn.ReLU()]
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(64, 10))


def make_batch(batch_size, generator):
    labels = torch.randint(10, (batch_size,), generator=generator)
    return torch.randn(batch_size, 3, 28, 28, generator=generator), labels
