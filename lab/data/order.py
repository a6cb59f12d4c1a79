"""The order of the images in training: one permutation per epoch."""

from collections.abc import Iterator

import torch
from torch import Tensor


def shuffled(num_images: int, generator: torch.Generator) -> Tensor:
    """Return the generator's next permutation (num_images,) of the images."""
    return torch.randperm(num_images, generator=generator)


def epoch_order(num_images: int, seed: int, epoch: int) -> Tensor:
    """Return the order (num_images,) of an epoch, which depends only on seed and epoch.

    So a run that resumes in an epoch finds its order without going through earlier epochs.
    """
    return shuffled(num_images, epoch_generator(seed, epoch))


def epoch_generator(seed: int, epoch: int) -> torch.Generator:
    """Return the generator of an epoch: it draws the images' order first, then augmentations."""
    return torch.Generator().manual_seed(seed * 100_000 + epoch)


def batches(num_images: int, batch_size: int, generator: torch.Generator) -> Iterator[Tensor]:
    """Yield the rows of batches without end, each epoch in a new order.

    Each epoch leaves out images that do not fill a batch.
    """
    while True:
        order = shuffled(num_images, generator)
        yield from order[: num_images - num_images % batch_size].split(batch_size)
