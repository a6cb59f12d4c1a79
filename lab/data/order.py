"""The order in which training sees the images: one permutation for each epoch."""

from collections.abc import Iterator

import torch
from torch import Tensor


def shuffled(num_images: int, generator: torch.Generator) -> Tensor:
    """The generator's next permutation (num_images,) of the images."""
    return torch.randperm(num_images, generator=generator)


def epoch_order(num_images: int, seed: int, epoch: int) -> Tensor:
    """The order (num_images,) of an epoch, which depends on seed and epoch alone.

    So a run that resumes in an epoch finds that epoch's order without going through the others.
    """
    return shuffled(num_images, epoch_generator(seed, epoch))


def epoch_generator(seed: int, epoch: int) -> torch.Generator:
    """What an epoch draws from: first the order of its images, then how these are varied."""
    return torch.Generator().manual_seed(seed * 100_000 + epoch)


def batches(num_images: int, batch_size: int, generator: torch.Generator) -> Iterator[Tensor]:
    """The rows of batch after batch without end, each epoch in an order of its own.

    Each epoch leaves out what fills no batch.
    """
    while True:
        order = shuffled(num_images, generator)
        yield from order[: num_images - num_images % batch_size].split(batch_size)
