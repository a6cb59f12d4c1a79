"""Bytes as tensors: scaled as torchvision does, shrunk by means."""

import pytest
import torch

from lab.data.images import shrink
from lab.nets.models import to_float


def test_scaling_is_torchvisions_to_tensor():
    from lab.machine.torchvision_import import torchvision

    images = torch.arange(2 * 784).remainder(256).to(torch.uint8).reshape(2, 28, 28)
    expected = [torchvision.transforms.ToTensor()(image.numpy()) for image in images]
    assert torch.equal(to_float(images), torch.stack(expected))


def test_images_are_channels_last_so_that_convolutions_are():
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
