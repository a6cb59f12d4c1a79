"""What it takes to read a batch's images, and apart from that to preprocess them."""

from typing import Any

import torch
from PIL import Image
from torch import Tensor

from lab.data.loaders import book_images
from lab.timing.clock import read_clock
from stages.bench_input.measure.names import PREPROCESS, READ

CPU = [torch.device("cpu")]


def stored_images() -> Any:
    """torchvision's training set: its bytes in memory as `data`, its transform as `transform`."""
    return book_images()


def prepare(stored: Any, batch_size: int) -> dict[str, float]:
    """Seconds of reading a random batch's bytes one by one, and of making a float tensor of them.

    These are what the set does when it is asked for an image, in two loops.
    """
    rows = torch.randint(len(stored.data), (batch_size,)).tolist()
    start = read_clock(CPU)
    read = read_images(stored.data, rows)
    between = read_clock(CPU)
    preprocess(read, stored.transform)
    return {READ: between - start, PREPROCESS: read_clock(CPU) - between}


def read_images(data: Tensor, rows: list[int]) -> list[Any]:
    """The bytes of each image, as an array (28, 28)."""
    return [data[row].numpy() for row in rows]


def preprocess(read: list[Any], transform: Any) -> Tensor:
    """A PIL image and a float tensor of each image, and a batch (n, 1, 28, 28) of these."""
    return torch.stack([transform(Image.fromarray(each)) for each in read])
