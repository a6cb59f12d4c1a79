import pytest
import torch

import lab.core.params
from lab.data.datasets import read_fashion_mnist
from lab.data.images import to_tensors
from lab.data.loaders import book_images
from lab.machine.devices import Devices
from lab.nets.models import to_float
from lab.results.measurements import Results, controls
from stages.bench_input.__main__ import measure, summarise
from stages.bench_input.measure import feeds as feeds_module
from stages.bench_input.measure.feeds import (
    Pass,
    feeds,
    measure_feeds,
    preprocess,
    read_images,
    resident_batches,
    time_pass,
)
from stages.bench_input.measure.names import BOOK, NO_WORKERS, PERSISTENT, RESIDENT
from stages.bench_input.measure.params import Params
from tests.helpers import edit_params, write_data
from tests.made_up import measurements, one

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
    variants = feeds(70, 32, resident)
    assert set(variants) == {BOOK, PERSISTENT, NO_WORKERS, RESIDENT}
    X, y = gathered(variants[RESIDENT]())
    assert X.shape == (70, 1, 28, 28)
    for name, feed in variants.items():
        other_X, other_y = gathered(feed())
        assert torch.equal(X, other_X), name
        assert torch.equal(y, other_y), name


def test_resident_batches_are_shuffled_anew_and_the_last_is_smaller(resident):
    first, second = (list(resident_batches(resident, 32)) for _ in range(2))
    assert [len(y) for _, y in first] == [32, 32, 6]
    assert not torch.equal(first[0][0], second[0][0])


def test_a_pass_is_of_the_first_images_whatever_feeds_it(resident):
    for name, feed in feeds(50, 32, resident).items():
        assert [len(y) for _, y in feed()] == [32, 18], name


def test_a_pass_is_of_all_resident_images_and_of_as_many_others_as_asked(resident, project):
    edit_params(
        {
            "bench_input.epoch_images": 64,
            "bench_input.rate_images": 48,
            "bench_input.batch_size": 16,
        }
    )
    params = lab.core.params.load(Params)
    found = Results(measure_feeds(params, resident, Devices("cpu-virtual", [CPU], 1), 0))
    assert found.variants("epoch") == [BOOK, RESIDENT]
    assert {variant: found.one("images", variant).x for variant in found.variants("images")} == {
        BOOK: 64,
        RESIDENT: 70,
        PERSISTENT: 48,
        NO_WORKERS: 48,
    }
    assert found.variants("first_batch") == found.variants("images")
    assert len(list(controls(found.measurements))) == 1


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
    found = time_pass(epoch, CPU)
    assert found == Pass(first_s=5, per_image_s=0.25, whole_s=10)
    assert found.epoch_s(12) == 10 + 0.25 * (60_000 - 12)


def test_resident_images_are_compared_with_the_books_by_whole_epochs():
    kind = "cpu-virtual"
    m = summarise(
        Results(
            [
                one("epoch", BOOK, 3, kind, 60_000, "s"),
                one("epoch", RESIDENT, 0.015, kind, 60_000, "s"),
                one("first_batch", BOOK, 80, kind, 60_000),
            ]
        )
    )
    assert m["resident_over_book"] == pytest.approx(200, rel=1e-2)
    assert m["the_books_loader_epoch_s"] == pytest.approx(3, rel=1e-2)
    assert m["resident_bytes_epoch_s"] == pytest.approx(0.015, rel=1e-2)
    assert m["the_books_loader_first_batch_ms"] == pytest.approx(80, rel=1e-2)


def test_what_is_read_and_preprocessed_is_what_resident_images_are(project):
    write_data(project / "data", train=20, test=10)
    images, _ = to_tensors(read_fashion_mnist("train"))
    stored, rows = book_images(), [7, 0, 7]
    read = read_images(stored.data, rows)
    assert [each.tolist() for each in read] == images[rows].tolist()
    assert torch.equal(preprocess(read, stored.transform), to_float(images[rows]))


def test_a_process_measures_what_the_page_and_the_claims_read(project):
    """Both read the made-up results in other tests."""
    write_data(project / "data", train=64, test=10)
    small = {"epoch_images": 48, "rate_images": 32, "batch_size": 16, "resnet_batch_size": 2}
    small |= {"steps": 1, "resnet_steps": 1}
    edit_params({f"bench_input.{key}": value for key, value in small.items()})
    edit_params({"bench.rounds": 1, "bench.min_sample_ms": 0.01})
    measured, made = (
        {(m.experiment, m.variant, m.unit, *m.columns.items()) for m in found}
        for found in (
            measure(0, lab.core.params.load(Params)),
            measurements("bench_input", "cpu-virtual"),
        )
    )
    assert measured <= made
