"""Four ways to feed a network with Fashion-MNIST: the book's loader, two variants of it, and
resident images.
"""

import time
import warnings
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor
from torch.utils.data import DataLoader, Dataset, Subset

from lab.data.datasets import DATA
from lab.data.images import to_float
from lab.data.order import shuffled
from lab.machine.torchvision_import import torchvision
from lab.timing.clock import read_clock

BOOK, PERSISTENT, NO_WORKERS = "the book's loader", "persistent, pinned workers", "no workers"
RESIDENT = "resident bytes"
BOOK_WORKERS = 4
# the book's 4 workers on fewer cores
warnings.filterwarnings("ignore", message="This DataLoader will create")
Batches = Iterable[tuple[Tensor, Tensor]]


def book_images(root: Path = DATA) -> Dataset[Any]:
    """Return torchvision's training set, which makes a PIL image and a float tensor of each image
    it gives.
    """
    transform = torchvision.transforms.ToTensor()
    return torchvision.datasets.FashionMNIST(str(root), train=True, transform=transform)  # type: ignore[no-any-return]


def loader(
    images: Dataset[Any], batch_size: int, num_workers: int, keep: bool = False
) -> DataLoader[tuple[Tensor, Tensor]]:
    """Return a shuffling DataLoader; `keep` keeps workers between epochs and pins memory beside a
    GPU.
    """
    return DataLoader(
        images,
        batch_size,
        shuffle=True,
        num_workers=num_workers,
        persistent_workers=keep,
        pin_memory=keep and torch.cuda.is_available(),
    )


def resident_batches(
    images: Tensor, labels: Tensor, batch_size: int
) -> Iterator[tuple[Tensor, Tensor]]:
    """Yield shuffled batches of uint8 images (n, 28, 28) that lie on a device, scaled there to [0,
    1].
    """
    order = shuffled(len(labels), torch.default_generator).to(images.device)
    for rows in order.split(batch_size):
        yield to_float(images.index_select(0, rows)), labels.index_select(0, rows)


def ways(
    num_images: int, batch_size: int, images: Tensor, labels: Tensor
) -> dict[str, Callable[[], Batches]]:
    """Return each way as a function that starts an epoch: over `num_images` images with a loader,
    else over all.
    """
    some = Subset(book_images(), range(num_images))
    kept = loader(some, batch_size, BOOK_WORKERS, keep=True)
    return {
        BOOK: lambda: loader(some, batch_size, BOOK_WORKERS),
        PERSISTENT: lambda: kept,
        NO_WORKERS: lambda: loader(some, batch_size, 0),
        RESIDENT: lambda: resident_batches(images, labels, batch_size),
    }


@dataclass(frozen=True)
class Pass:
    """One pass over images: seconds until the first batch is there, per image after it, and after
    the last.

    Workers have further batches nearly ready when the first arrives, so a short pass flatters them
    a little.
    """

    first_s: float
    per_image_s: float
    end_s: float

    def epoch_s(self, num_images: int, batch_size: int) -> float:
        """Return the seconds of an epoch of `num_images`: starting and stopping workers costs
        once.
        """
        return self.first_s + self.per_image_s * max(0, num_images - batch_size) + self.end_s


def time_pass(start_epoch: Callable[[], Batches], device: torch.device) -> Pass:
    """Return the times of one epoch in which nothing is done with the batches but bring them to
    `device`.

    Raises:
        ValueError: fewer than two batches, so that nothing is known of those after the first.
    """
    start = read_clock([device])
    times, counts = [], []
    for X, y in start_epoch():
        X.to(device, non_blocking=True), y.to(device, non_blocking=True)
        times.append(time.perf_counter())
        counts.append(len(y))
    end = read_clock([device])
    if len(times) < 2:
        raise ValueError("expected at least two batches")
    return Pass(times[0] - start, (times[-1] - times[0]) / sum(counts[1:]), end - times[-1])
