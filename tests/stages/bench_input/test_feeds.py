import pytest
import torch

from lab.data.datasets import read_fashion_mnist
from lab.data.images import to_tensors
from stages.bench_input import feeds as feeds_module
from stages.bench_input.feeds import Pass, feeds, resident_batches, time_pass
from stages.bench_input.names import BOOK, NO_WORKERS, PERSISTENT, RESIDENT
from tests.helpers import write_data

CPU = torch.device("cpu")


@pytest.fixture
def resident(project):
    write_data(project / "data", train=70, test=10)
    return to_tensors(read_fashion_mnist("train"))


def gathered(batches):
    X, y = (torch.cat(parts) for parts in zip(*batches, strict=True))
    order = torch.tensor(sorted(range(len(y)), key=lambda i: X[i].flatten().tolist()))
    return X[order], y[order]


def test_every_feed_gives_the_same_images_to_the_bit(resident):
    arms = feeds(70, 32, resident)
    assert set(arms) == {BOOK, PERSISTENT, NO_WORKERS, RESIDENT}
    X, y = gathered(arms[RESIDENT]())
    assert X.shape == (70, 1, 28, 28)
    for name, feed in arms.items():
        other_X, other_y = gathered(feed())
        assert torch.equal(X, other_X), name
        assert torch.equal(y, other_y), name


def test_resident_batches_are_shuffled_anew_and_the_last_is_smaller(resident):
    first, second = (list(resident_batches(resident, 32)) for _ in range(2))
    assert [len(y) for _, y in first] == [32, 32, 6]
    assert not torch.equal(first[0][0], second[0][0])


def test_an_epoch_is_told_from_a_pass():
    taken = Pass(first_s=0.5, per_image_s=0.001, end_s=0.25)
    assert taken.epoch_s(1100, 100) == pytest.approx(1.75)


def test_a_pass_of_one_batch_says_nothing_of_the_next():
    with pytest.raises(ValueError, match="two batches"):
        time_pass(lambda: [(torch.zeros(4, 1), torch.zeros(4))], CPU)


def test_a_pass_is_split_at_its_first_and_last_batch(monkeypatch):
    now = 0.0

    def epoch():
        nonlocal now
        for seconds in (5, 1, 1):  # workers start, then a batch a second
            now += seconds
            yield torch.zeros(4, 1), torch.zeros(4)
        now += 3  # workers stop

    monkeypatch.setattr(feeds_module, "read_clock", lambda devices: now)
    monkeypatch.setattr(feeds_module.time, "perf_counter", lambda: now)
    assert time_pass(epoch, CPU) == Pass(first_s=5, per_image_s=0.25, end_s=3)
