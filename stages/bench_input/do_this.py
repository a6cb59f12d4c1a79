"""Load all images once into one tensor of bytes, then take shuffled batches from it."""

from collections.abc import Iterator

import torch
from torch import Tensor

device = "cuda" if torch.cuda.is_available() else "cpu"
# yours: FashionMNIST(...).data and .targets
images = torch.randint(256, (60_000, 28, 28), dtype=torch.uint8)
labels = torch.randint(10, (60_000,))
images, labels = images.to(device), labels.to(device)


def batches(size: int) -> Iterator[tuple[Tensor, Tensor]]:
    for rows in torch.randperm(len(labels), device=device).split(size):
        X = images[rows, ..., None] / 255  # floats
        yield X.permute(0, 3, 1, 2), labels[rows]  # channels last


for X, y in batches(256):
    loss = X.mean() * y.float().mean()  # your training step
