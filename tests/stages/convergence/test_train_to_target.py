"""Epochs to a target: what a run is, when it ends, and how."""

import itertools
import math

import pytest
import torch
import torch.nn.functional as F
from hypothesis import given
from hypothesis import strategies as st

from lab.data import synthetic
from lab.data.images import shrink
from lab.optim import schedules
from lab.training.short_training import scaled_lenet_params
from stages.convergence import train_to_target as convergence
from stages.convergence.names import FIXED, LINEAR, WARM_UP
from stages.convergence.train_to_target import Goal, Images, ScaledLeNet, train_to_target

pytestmark = pytest.mark.usefixtures("one_thread")


def images(count, seed):
    X, y = synthetic.fashion(count, seed)
    return Images(shrink(torch.from_numpy(X), 14), torch.from_numpy(y.astype("int64")))


TRAIN, TEST = images(512, 0), images(200, 1)


def run(lr=0.05, batch_size=32, accuracy=0.5, max_epochs=4, seed=0, train=TRAIN):
    generator = torch.Generator().manual_seed(seed)
    net = ScaledLeNet(generator, 14)
    return train_to_target(
        net, train, TEST, schedules.constant(lr), batch_size, Goal(accuracy, max_epochs), generator
    )


def test_lenet_on_small_images_has_its_own_fan_in_and_on_large_ones_is_the_notes():
    small, large = (ScaledLeNet(torch.Generator().manual_seed(0), side) for side in (14, 28))
    assert [convergence.num_features(side) for side in (14, 28)] == [50, 800]
    assert small(TEST.X).shape == (200, 10)
    assert small.params[4].shape == (50, 128)
    assert small.params[4].std().item() == pytest.approx((2 / 50) ** 0.5, rel=0.05)
    for p, q in zip(
        large.params, scaled_lenet_params(torch.Generator().manual_seed(0)), strict=True
    ):
        assert torch.equal(p, q)


@given(st.floats(0.001, 1), st.integers(1, 64), st.integers(1, 64))
def test_rules_of_the_rate(lr, smallest, times):
    fixed, linear, warm = (
        convergence.schedule(rule, lr, smallest * times, smallest, 2.0)
        for rule in (FIXED, LINEAR, WARM_UP)
    )
    assert fixed(0.0) == fixed(7.0) == lr
    assert linear(0.0) == linear(7.0) == pytest.approx(lr * times)
    assert [warm(t) for t in (0.0, 1.0, 2.0, 7.0)] == pytest.approx(
        [0, lr * times / 2, lr * times, lr * times]
    )


def test_a_batch_in_pieces_is_one_step_on_its_mean_loss(monkeypatch):
    monkeypatch.setattr(convergence, "PIECE", 7)
    net, expected = (ScaledLeNet(torch.Generator().manual_seed(0), 14).double() for _ in range(2))
    X, y = TRAIN.X[:20].double(), TRAIN.y[:20]
    optimizer = torch.optim.SGD(expected.parameters(), 0.1)
    F.cross_entropy(expected(X), y).backward()
    optimizer.step()
    convergence.take_step(net, Images(X, y), 0.1)
    for p, q in zip(net.parameters(), expected.parameters(), strict=True):
        torch.testing.assert_close(p, q, rtol=1e-10, atol=1e-12)


def test_a_run_ends_at_its_first_reading_with_the_target_and_repeats():
    found = run()
    assert found == run()
    assert found.ending == "reached"
    assert found.accuracies[-1] >= 0.5 > max(found.accuracies[:-1], default=0)
    assert found.epochs_to_target == found.epochs[-1] <= 4
    assert run(seed=1) != found


def test_a_run_without_the_target_uses_its_whole_budget():
    found = run(lr=0.001, accuracy=0.99, max_epochs=2)
    assert (found.ending, found.epochs[-1], found.epochs_to_target) == ("not reached", 2, math.inf)


def test_leaving_the_finite_numbers_ends_a_run_at_once_and_a_constant_answer_at_the_end():
    lost = run(lr=1e30, max_epochs=4)
    assert lost.ending == "diverged"
    assert len(lost.epochs) == 1
    constant = Images(
        TRAIN.X, torch.zeros_like(TRAIN.y)
    )  # what it learns is to answer 0, right for few test images
    stuck = run(lr=0.5, train=constant, accuracy=0.99, max_epochs=2)
    assert (stuck.ending, stuck.epochs[-1]) == ("diverged", 2)


def test_an_epoch_shows_each_image_once_and_leaves_the_remainder():
    batches = convergence._batches(10, 4, torch.Generator().manual_seed(0))
    first, second = ([next(batches) for _ in range(2)] for _ in range(2))
    for epoch in (first, second):
        assert [len(rows) for rows in epoch] == [4, 4]
        assert len(set(torch.cat(epoch).tolist())) == 8
    assert not torch.equal(torch.cat(first), torch.cat(second))


@given(st.integers(1, 2000), st.sampled_from([16, 64, 256, 1024, 4096]))
def test_readings_are_whole_steps_an_octaves_quarter_apart_and_the_last(num_steps, batch_size):
    steps = convergence.readings(num_steps, batch_size)
    assert steps == sorted(set(steps))
    assert steps[-1] == num_steps
    assert steps[0] >= 1
    for before, after in itertools.pairwise(steps):
        assert after <= math.ceil(before * 2**0.25) + 1
