from itertools import count

import pytest
import torch

import lab.core.params
from lab.data.datasets import read_fashion_mnist
from lab.data.images import to_tensors
from lab.data.loaders import book_images
from lab.machine.devices import Devices
from lab.nets.models import to_float
from lab.results.measurements import Results
from stages.bench_input.__main__ import measure
from stages.bench_input.measure import feeds as module
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
from tests.made_up import measurements


@pytest.fixture
def resident(project):
    write_data(project / "data", train=70, test=10)
    return to_tensors(read_fashion_mnist("train"))


def gathered(batches):
    X, y = (torch.cat(parts) for parts in zip(*batches, strict=True))
    order = torch.tensor(sorted(range(len(y)), key=lambda i: X[i].flatten().tolist()))
    return X[order], y[order]


def test_every_feed_gives_bit_for_bit_identical_images(resident):
    variants = feeds(70, 32, resident)
    assert set(variants) == {BOOK, PERSISTENT, NO_WORKERS, RESIDENT}
    X, y = gathered(variants[RESIDENT]())
    assert X.shape == (70, 1, 28, 28)
    for name, feed in variants.items():
        other_X, other_y = gathered(feed())
        assert torch.equal(X, other_X), name
        assert torch.equal(y, other_y), name


def test_resident_batches_are_reshuffled_each_time_and_the_last_is_smaller(resident):
    first, second = (list(resident_batches(resident, 32)) for _ in range(2))
    assert [len(y) for _, y in first] == [32, 32, 6]
    assert not torch.equal(first[0][0], second[0][0])


def test_read_and_preprocessed_images_equal_the_resident_ones(project):
    write_data(project / "data", train=20, test=10)
    images, _ = to_tensors(read_fashion_mnist("train"))
    stored, rows = book_images(), [7, 0, 7]
    read = read_images(stored.data, rows)
    assert [each.tolist() for each in read] == images[rows].tolist()
    assert torch.equal(preprocess(read, stored.transform), to_float(images[rows]))


def test_a_pass_gives_the_rate_after_the_first_batch_and_an_epochs_time_at_that_rate(monkeypatch):
    readings = iter([10.0, 15.0, 16.0, 17.0, 18.0])  # at the start, after each batch, at the end
    monkeypatch.setattr(module, "read_clock", lambda devices: next(readings))
    batches = [(torch.zeros(n, 1, 28, 28), torch.zeros(n)) for n in (8, 8, 4)]
    found = time_pass(lambda: batches, torch.device("cpu"))
    assert found.first_s == 5
    assert found.per_image_s == pytest.approx(2 / 12)
    assert found.epoch_s(20) == pytest.approx(8 + 59_980 / 6)


def test_epochs_are_whole_and_passes_that_start_workers_are_not_counted(resident, monkeypatch):
    passes = count(1)

    def pass_of(feed, device):
        images = sum(len(y) for _, y in feed())
        is_first = next(passes) <= 4  # one of each feed
        return Pass(1.0, 900.0 if is_first else 0.5, images / 2)

    monkeypatch.setattr(module, "time_pass", pass_of)
    small = {"epoch_images": 48, "rate_images": 32, "batch_size": 8}
    edit_params({f"bench_input.{key}": value for key, value in small.items()})
    params = lab.core.params.load(Params)
    found = Results(measure_feeds(params, resident, Devices("cpu", [torch.device("cpu")], 1), 0))
    for feed in (BOOK, RESIDENT):
        assert {*found.samples("epoch", feed).values} == {30_000}
    for feed in (BOOK, PERSISTENT, NO_WORKERS, RESIDENT):
        assert {*found.samples("images", feed).values} == {2}


def test_a_process_measures_what_the_page_and_the_claims_read(project):
    """Other tests run both on the made-up results."""
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
