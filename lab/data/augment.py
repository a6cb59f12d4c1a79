"""Random augmentation of images, new in each epoch, so that a net cannot memorize them."""

import torch
from torch import Tensor
from torch.nn.functional import pad

from lab.core.shared_params import Augmentation

MOST_PIXELS = 2  # of a shift, in each direction


def varied(images: Tensor, how: Augmentation, generator: torch.Generator) -> Tensor:
    """Return uint8 images (n, 28, 28), each shifted uniformly by up to two pixels per direction.

    New pixels are black. `none` returns the images themselves. They are not mirrored: all shoes in
    Fashion-MNIST point to the left, also in the test images.
    """
    if how == "none":
        return images
    n, side = images.shape[:2]
    down, right = torch.randint(2 * MOST_PIXELS + 1, (2, n), generator=generator).to(images.device)
    windows = pad(images, [MOST_PIXELS] * 4).unfold(1, side, 1).unfold(2, side, 1)
    return windows[torch.arange(n, device=images.device), down, right]
