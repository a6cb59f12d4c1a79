"""Epochs to a target: schedules, readings, and when and how a run ends."""

import itertools
import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from lab.data import synthetic
from lab.data.images import Images, shrink
from lab.optim import schedules
from lab.training.short_training import SmallLeNet
from stages.convergence.measure.epochs_to_target import (
    Goal,
    RunToTarget,
    readings,
    schedule,
    train_to_target,
)
from stages.convergence.measure.names import FIXED, SCALED


def images(count, seed):
    X, y = synthetic.fashion(count, seed)
    return Images(shrink(torch.from_numpy(X), 14), torch.from_numpy(y.astype("int64")))


TRAIN, TEST = images(512, 0), images(200, 1)


def run(lr=0.01, batch_size=32, accuracy=0.7, max_epochs=24, seed=0, train=TRAIN):
    generator = torch.Generator().manual_seed(seed)
    net = SmallLeNet(generator, 14)
    return train_to_target(
        net, train, TEST, schedules.constant(lr), batch_size, Goal(accuracy, max_epochs), generator
    )


@given(st.floats(0.001, 1), st.integers(1, 64), st.integers(1, 64))
def test_a_fixed_rate_is_constant_and_a_scaled_one_warms_up_linearly(lr, smallest, times):
    fixed, warm = (schedule(rule, lr, smallest * times, smallest, 2.0) for rule in (FIXED, SCALED))
    assert fixed(0.0) == fixed(7.0) == lr
    assert [warm(t) for t in (0.0, 1.0, 2.0, 7.0)] == pytest.approx(
        [0, lr * times / 2, lr * times, lr * times]
    )


def test_a_run_ends_at_its_first_reading_that_reaches_the_target_and_is_repeatable():
    found = run()
    assert found == run()
    assert found.ending == "reached"
    assert found.accuracies[-1] >= 0.7 > max(found.accuracies[:-1])
    assert found.epochs[-2] < found.epochs_to(0.7) <= found.epochs[-1] <= 24
    assert run(seed=1) != found


def test_a_run_without_the_target_uses_its_whole_budget():
    found = run(lr=0.001, accuracy=0.99, max_epochs=2)
    assert (found.ending, found.epochs[-1], found.epochs_to(0.99)) == ("not reached", 2, 2)


def test_the_epochs_to_an_accuracy_lie_between_the_readings_around_it():
    found = RunToTarget((0.5, 1.0, 4.0), (0.1, 0.4, 0.8), "reached")
    assert found.epochs_to(0.8) == pytest.approx(4)
    assert found.epochs_to(0.6) == pytest.approx(2), "half of the way on a logarithmic scale"
    assert RunToTarget((0.5,), (0.9,), "reached").epochs_to(0.6) == 0.5


def test_a_non_finite_loss_ends_a_run_immediately_and_a_constant_answer_at_its_end():
    lost = run(lr=1e30, max_epochs=4)
    assert lost.ending == "diverged"
    assert len(lost.epochs) == 1
    constant = Images(
        TRAIN.X, torch.zeros_like(TRAIN.y)
    )  # the net learns to answer 0, right for few test images
    stuck = run(lr=0.5, train=constant, accuracy=0.99, max_epochs=2)
    assert (stuck.ending, stuck.epochs[-1]) == ("diverged", 2)


@given(st.integers(1, 2000), st.sampled_from([16, 64, 256, 1024, 4096]))
def test_readings_are_whole_steps_an_eighth_of_an_octave_apart_and_the_last(num_steps, batch_size):
    steps = readings(num_steps, batch_size)
    assert steps == sorted(set(steps))
    assert steps[-1] == num_steps
    assert steps[0] >= 1
    for before, after in itertools.pairwise(steps):
        assert after <= math.ceil(before * 2**0.125) + 1
