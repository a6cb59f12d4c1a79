"""Python: a hundred layers that each do next to nothing."""

import torch
from torch import nn

BATCH_SIZE = 16


class Tiny(nn.Module):
    def __init__(self):
        super().__init__()
        self.weights = nn.Parameter(1 + 0.01 * torch.randn(100, 1))
        self.head = nn.Linear(8, 3)

    def forward(self, X):
        for weight in self.weights:
            X = torch.sin(X * weight)
        return self.head(X)


def make_net():
    return Tiny()


def make_batch(batch_size, generator):
    labels = torch.randint(3, (batch_size,), generator=generator)
    return torch.rand(batch_size, 8, generator=generator), labels
