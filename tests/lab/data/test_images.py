"""Images as tensors: scaled, shrunk, shuffled, augmented, and synthetic."""

import numpy as np
import pytest
import torch

from lab.data import synthetic
from lab.data.augment import MOST_PIXELS, varied
from lab.data.images import shrink
from lab.data.order import batches
from lab.nets.models import to_float


def test_scaling_matches_torchvisions_to_tensor():
    from lab.machine.torchvision_import import torchvision

    images = torch.arange(2 * 784).remainder(256).to(torch.uint8).reshape(2, 28, 28)
    expected = [torchvision.transforms.ToTensor()(image.numpy()) for image in images]
    assert torch.equal(to_float(images), torch.stack(expected))


def test_images_are_channels_last_and_so_are_their_convolutions():
    X = to_float(torch.zeros(2, 28, 28, dtype=torch.uint8))
    assert X.stride() == (784, 1, 28, 1)
    h = torch.conv2d(X, torch.zeros(20, 1, 3, 3))
    assert h.is_contiguous(memory_format=torch.channels_last)


def test_shrinking_takes_means_of_pixels():
    X = torch.randint(
        0, 256, (3, 28, 28), dtype=torch.uint8, generator=torch.Generator().manual_seed(0)
    )
    assert torch.equal(shrink(X, 28), to_float(X))
    block = X[1, 4:6, 8:10].double().mean() / 255
    assert shrink(X, 14)[1, 0, 2, 4].item() == pytest.approx(block.item(), rel=1e-6)


def test_an_epoch_shows_each_image_at_most_once_and_drops_the_remainder():
    endless = batches(10, 4, torch.Generator().manual_seed(0))
    first, second = ([next(endless) for _ in range(2)] for _ in range(2))
    for epoch in (first, second):
        assert [len(rows) for rows in epoch] == [4, 4]
        assert len(set(torch.cat(epoch).tolist())) == 8
    assert not torch.equal(torch.cat(first), torch.cat(second))


IMAGES = torch.randint(1, 256, (400, 28, 28), generator=torch.Generator().manual_seed(0)).byte()


def draw(how, seed=0, images=IMAGES):
    return varied(images, how, torch.Generator().manual_seed(seed))


def test_none_returns_the_same_tensor():
    assert draw("none") is IMAGES


def test_shifts_are_whole_pixels_in_all_directions_and_fill_with_black():
    """Pixels are never 0, so the black border shows how far an image was moved."""
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


def test_the_same_seed_gives_the_same_variants_and_a_different_one_does_not():
    assert torch.equal(draw("shift", seed=1), draw("shift", seed=1))
    assert not torch.equal(draw("shift", seed=1), draw("shift", seed=2))


def test_synthetic_images_have_fashion_mnists_format_and_balanced_classes():
    images, labels = synthetic.fashion(1003, seed=0)
    assert images.shape == (1003, 28, 28)
    assert images.dtype == labels.dtype == np.uint8
    assert set(np.bincount(labels)) == {100, 101}
    assert images.min() == 0
    assert images.max() == 255


def test_the_classes_can_be_learned_but_not_trivially():
    """A nearest-class-mean classifier is far better than chance and far from perfect."""
    images, labels = synthetic.fashion(2000, seed=3)
    test_images, test_labels = synthetic.fashion(1000, seed=4)
    means = np.stack([images[labels == c].mean(0).ravel() for c in range(10)])
    distances = ((test_images.reshape(1000, 1, -1) - means) ** 2).sum(-1)
    accuracy = (distances.argmin(1) == test_labels).mean()
    assert 0.4 < accuracy < 0.95


def test_the_synthetic_airfoil_data_have_a_signal_and_noise():
    table = synthetic.airfoil(seed=0)
    assert table.shape == (1503, 6)
    X = np.column_stack([np.ones(1503), table[:, :5]])
    residual = table[:, 5] - X @ np.linalg.lstsq(X, table[:, 5], rcond=None)[0]
    assert 0.3 < residual.var() / table[:, 5].var() < 0.95
