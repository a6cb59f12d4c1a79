"""Random variants of images: what may change, what may not, and that the same draws give them."""

import torch

from lab.data.augment import MOST_PIXELS, varied

IMAGES = torch.randint(1, 256, (400, 28, 28), generator=torch.Generator().manual_seed(0)).byte()


def draw(how, seed=0, images=IMAGES):
    return varied(images, how, torch.Generator().manual_seed(seed))


def test_none_leaves_the_very_images():
    assert draw("none") is IMAGES


def test_shifts_are_whole_pixels_in_all_directions_and_black_moves_in():
    """Pixels are never 0, so that the black border tells how far an image was moved."""
    found = draw("shift")
    assert (found.shape, found.dtype) == (IMAGES.shape, torch.uint8)
    moves = set()
    for image, variant in zip(IMAGES, found, strict=True):
        rows, columns = variant.any(1).nonzero()[:, 0], variant.any(0).nonzero()[:, 0]
        top, left = int(rows[0]), int(columns[0])
        bottom, right = 27 - int(rows[-1]), 27 - int(columns[-1])
        down, to_right = top - bottom, left - right
        kept = variant[top : 28 - bottom, left : 28 - right]
        assert torch.equal(kept, image[bottom : 28 - top, right : 28 - left])
        moves.add((down, to_right))
    assert len(moves) == (2 * MOST_PIXELS + 1) ** 2


def test_the_same_draws_give_the_same_variants_and_others_do_not():
    assert torch.equal(draw("shift", seed=1), draw("shift", seed=1))
    assert not torch.equal(draw("shift", seed=1), draw("shift", seed=2))
