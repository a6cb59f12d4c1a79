"""Images varied at random, anew in each epoch, so that a net cannot learn them by heart."""

import torch
from torch import Tensor
from torch.nn.functional import pad

from lab.core.shared_params import Augmentation

MOST_PIXELS = 2  # of a shift, in each direction


def varied(images: Tensor, how: Augmentation, generator: torch.Generator) -> Tensor:
    """uint8 images (n, 28, 28), each mirrored with a chance of a half, and shifted if asked.

    A shift moves an image by up to two pixels in each direction, all as likely; what moves in is
    black. `none` returns the images themselves.
    """
    if how == "none":
        return images
    n, side = images.shape[:2]
    mirrored = torch.rand(n, generator=generator) < 0.5
    found = torch.where(mirrored.to(images.device)[:, None, None], images.flip(2), images)
    if how == "mirror":
        return found
    down, right = torch.randint(2 * MOST_PIXELS + 1, (2, n), generator=generator).to(images.device)
    windows = pad(found, [MOST_PIXELS] * 4).unfold(1, side, 1).unfold(2, side, 1)
    return windows[torch.arange(n, device=images.device), down, right]
