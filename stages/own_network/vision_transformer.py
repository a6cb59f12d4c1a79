"""A small vision transformer on Fashion-MNIST: a network for `own_network.file`, or your own."""

from collections.abc import Iterable
from pathlib import Path

import torch
from torch import Tensor, nn
from torch.utils.data import DataLoader, TensorDataset

BATCH_SIZE = 32
IMAGES, LABELS = "train-images-idx3-ubyte", "train-labels-idx1-ubyte"
SIDE, PATCH, CHANNELS, HEADS, BLOCKS = 28, 7, 64, 4, 2


def read(name: str, header: int) -> Tensor:
    """Return the bytes after the header of a file of torchvision's data set."""
    path = Path("data", "FashionMNIST", "raw", name)
    return torch.from_file(str(path), size=path.stat().st_size, dtype=torch.uint8)[header:]


class Block(nn.Module):
    """Self-attention, then an MLP, each after a layer norm and with a residual connection."""

    def __init__(self) -> None:
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(CHANNELS), nn.LayerNorm(CHANNELS)
        self.attention = nn.MultiheadAttention(CHANNELS, HEADS, batch_first=True)
        hidden = 4 * CHANNELS
        self.mlp = nn.Sequential(
            nn.Linear(CHANNELS, hidden), nn.GELU(), nn.Linear(hidden, CHANNELS)
        )

    def forward(self, X: Tensor) -> Tensor:
        Z = self.norm1(X)
        X = X + self.attention(Z, Z, Z, need_weights=False)[0]
        Z = self.norm2(X)
        return torch.add(X, self.mlp(Z))


class VisionTransformer(nn.Module):
    """Logits (n, 10) of images (n, 1, 28, 28) of bytes, cut into patches."""

    def __init__(self) -> None:
        super().__init__()
        self.patches = nn.Conv2d(1, CHANNELS, PATCH, PATCH)
        self.cls = nn.Parameter(torch.zeros(1, 1, CHANNELS))
        self.places = nn.Parameter(0.02 * torch.randn(1, (SIDE // PATCH) ** 2 + 1, CHANNELS))
        self.blocks = nn.Sequential(*(Block() for _ in range(BLOCKS)))
        self.head = nn.Sequential(nn.LayerNorm(CHANNELS), nn.Linear(CHANNELS, 10))

    def forward(self, X: Tensor) -> Tensor:
        patches = self.patches(X / 255).flatten(2).transpose(1, 2)
        Z = torch.cat([self.cls.expand(len(X), -1, -1), patches], 1) + self.places
        logits: Tensor = self.head(self.blocks(Z)[:, 0])
        return logits


def make_net() -> nn.Module:
    return VisionTransformer()


def data_set() -> TensorDataset:
    return TensorDataset(read(IMAGES, 16).view(-1, 1, SIDE, SIDE), read(LABELS, 8).long())


def make_batch(batch_size: int, generator: torch.Generator) -> tuple[Tensor, Tensor]:
    images, labels = data_set().tensors
    rows = torch.randint(len(labels), (batch_size,), generator=generator)
    return images[rows], labels[rows]


def make_loader(batch_size: int) -> DataLoader[tuple[Tensor, ...]]:
    return DataLoader(data_set(), batch_size, shuffle=True)


def make_optimizer(parameters: Iterable[nn.Parameter]) -> torch.optim.Optimizer:
    return torch.optim.AdamW(parameters, lr=1e-3)
