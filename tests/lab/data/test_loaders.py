import pytest
import torch
from torch.utils.data import Subset

from lab.data.loaders import book_images, loader
from tests.helpers import write_data


@pytest.fixture
def forty(project):
    write_data(project / "data", train=70, test=10)
    return Subset(book_images(), range(40))


def test_a_loader_gives_each_image_once_scaled_and_shuffled_anew(forty):
    batches = loader(forty, 16, 0)
    first, second = (list(batches) for _ in range(2))
    assert [len(y) for _, y in first] == [16, 16, 8]
    assert first[0][0].shape == (16, 1, 28, 28)
    assert not torch.equal(first[0][0], second[0][0])
    given = sorted(X.sum().item() for batch, _ in first for X in batch)
    assert given == pytest.approx(sorted(X.sum().item() for X, _ in forty))
