"""Fashion-MNIST's bytes as the tensors that networks take."""

from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor

from lab.data.datasets import Split
from lab.nets.models import to_float

LabelledImages = tuple[Tensor, Tensor]  # uint8 images (n, 28, 28) and int64 labels (n,)


class Images(NamedTuple):
    """Float images X (n, 1, side, side) and labels y (n,), on one device."""

    X: Tensor
    y: Tensor

    def at(self, rows: Tensor) -> "Images":
        return Images(self.X[rows], self.y[rows])

    def first(self, count: int) -> "Images":
        return Images(self.X[:count], self.y[:count])


def to_tensors(split: Split) -> LabelledImages:
    """Copy a split's images and labels into tensors on the CPU."""
    return torch.from_numpy(split.images.copy()), torch.from_numpy(split.labels.copy())


def shrink(images: Tensor, side: int) -> Tensor:
    """Shrink uint8 images (n, 28, 28) to floats (n, 1, side, side) in [0, 1] by average pooling."""
    X = to_float(images)
    return X if side == X.shape[-1] else F.avg_pool2d(X, X.shape[-1] // side)


def small_images(split: Split, side: int, device: torch.device) -> Images:
    """Return a split's images, shrunk to `side` pixels, and its labels, on the device."""
    images, labels = to_tensors(split)
    return Images(shrink(images, side).to(device), labels.to(device))
