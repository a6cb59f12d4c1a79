"""Fashion-MNIST as the book loads it: torchvision's images through torch's DataLoader."""

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
# How workers start. Since 3.14, Python's default on Linux is a server: each loading process would
# wait until its server has imported torch, and workers would outlive a process that is killed.
WORKER_START = "fork" if sys.platform == "linux" else "spawn"
warnings.filterwarnings("ignore", message="This DataLoader will create")  # workers beyond the cores


def book_images(root: Path = DATA) -> Dataset[Any]:
    """Return torchvision's training set, which makes a PIL image and a float tensor per access."""
    transform = torchvision.transforms.ToTensor()
    return torchvision.datasets.FashionMNIST(str(root), train=True, transform=transform)  # type: ignore[no-any-return]


def loader(
    images: Dataset[Any], batch_size: int, num_workers: int, keep: bool = False
) -> DataLoader[tuple[Tensor, Tensor]]:
    """Return a shuffling DataLoader; `keep`: its workers outlive an epoch, and it pins memory."""
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
    """Make a worker end with its parent process, and silence the worker's stderr.

    torch's worker ends if its parent is not the one from when it started. If that parent was gone
    by then, the worker would never end, and keep its pipes open. Without its parent, it would only
    print that its pipes broke.
    """
    die_with_parent()
    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
