"""The book's way to load Fashion-MNIST: torchvision's images through torch's DataLoader."""

import os
import sys
import warnings
from pathlib import Path
from typing import Any

import torch
from torch import Tensor
from torch.utils.data import DataLoader, Dataset

from lab.data.datasets import DATA
from lab.machine.fresh_process import die_with_parent
from lab.machine.torchvision_import import torchvision

BOOK_WORKERS = 4
# How workers start. Python's default on Linux, from 3.14 on, is a server: each process that loads
# would wait until its own has imported torch, and workers would outlive a process that is killed.
WORKER_START = "fork" if sys.platform == "linux" else "spawn"
warnings.filterwarnings("ignore", message="This DataLoader will create")  # workers beyond the cores


def book_images(root: Path = DATA) -> Dataset[Any]:
    """torchvision's training set, which makes a PIL image and a float tensor for each access."""
    transform = torchvision.transforms.ToTensor()
    return torchvision.datasets.FashionMNIST(str(root), train=True, transform=transform)  # type: ignore[no-any-return]


def loader(
    images: Dataset[Any], batch_size: int, num_workers: int, keep: bool = False
) -> DataLoader[tuple[Tensor, Tensor]]:
    """A shuffling DataLoader; with `keep` its workers outlive an epoch and pin memory for a GPU."""
    return DataLoader(
        images,
        batch_size,
        shuffle=True,
        num_workers=num_workers,
        multiprocessing_context=WORKER_START if num_workers else None,
        persistent_workers=keep,
        pin_memory=keep and torch.cuda.is_available(),
        worker_init_fn=_init_worker,
    )


def _init_worker(worker: int) -> None:
    """Have a worker end with its process, and leave errors to it.

    torch's own worker looks whether its parent is still the one that it had when it began: where
    that process was gone by then, the worker would stay for good, and keep its pipes open. Without
    its process it would only print how they broke.
    """
    die_with_parent()
    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
