import pytest
import torch
from torch.utils.data import Subset

from lab.data import loaders
from lab.data.loaders import (
    BOOK,
    NO_WORKERS,
    PERSISTENT,
    RESIDENT,
    Pass,
    book_images,
    loader,
    resident_batches,
    time_pass,
    ways,
)
from tests.helpers import write_data

CPU = torch.device("cpu")


@pytest.fixture
def images(project):
    write_data(project / "data", train=70, test=10)
    from lab.data.datasets import read_fashion_mnist

    split = read_fashion_mnist("train")
    return torch.tensor(split.images), torch.tensor(split.labels)


def gathered(batches):
    X, y = (torch.cat(parts) for parts in zip(*batches, strict=True))
    order = torch.tensor(sorted(range(len(y)), key=lambda i: X[i].flatten().tolist()))
    return X[order], y[order]


@pytest.mark.parametrize("way", [BOOK, PERSISTENT, NO_WORKERS])
def test_resident_bytes_are_the_same_images_to_the_bit(images, way):
    made = ways(70, 32, *images)
    X, y = gathered(made[way]())
    X_resident, y_resident = gathered(made[RESIDENT]())
    assert X.shape == (70, 1, 28, 28)
    assert torch.equal(X, X_resident)
    assert torch.equal(y, y_resident)


def test_batches_are_shuffled_anew_and_the_last_is_smaller(images):
    first, second = (list(resident_batches(*images, 32)) for _ in range(2))
    assert [len(y) for _, y in first] == [32, 32, 6]
    assert not torch.equal(first[0][0], second[0][0])


def test_a_loader_of_some_images_gives_those(images):
    assert sum(len(y) for _, y in loader(Subset(book_images(), range(40)), 16, 0)) == 40


def test_an_epoch_is_told_from_a_pass():
    assert Pass(first_s=0.5, per_image_s=0.001, end_s=0.25).epoch_s(1100, 100) == pytest.approx(
        1.75
    )


def test_a_pass_counts_the_images_after_the_first_batch():
    batches = [(torch.zeros(4, 1), torch.zeros(4))] * 3
    taken = time_pass(lambda: batches, CPU)
    assert taken.first_s > 0
    assert taken.per_image_s > 0
    assert taken.end_s >= 0
    with pytest.raises(ValueError, match="two batches"):
        time_pass(lambda: batches[:1], CPU)


def test_a_pass_is_split_at_its_first_and_last_batch(monkeypatch):
    now = 0.0

    def epoch():
        nonlocal now
        for seconds in (5, 1, 1):  # workers start, then a batch a second
            now += seconds
            yield torch.zeros(4, 1), torch.zeros(4)
        now += 3  # workers stop

    monkeypatch.setattr(loaders, "read_clock", lambda devices: now)
    monkeypatch.setattr(loaders.time, "perf_counter", lambda: now)
    assert time_pass(epoch, CPU) == Pass(first_s=5, per_image_s=0.25, end_s=3)
