"""The search for the highest stable rate, and what it is for a run to diverge."""

import math

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from lab.core.errors import LabError
from lab.data import synthetic
from lab.data.datasets import Split
from lab.data.images import small_images
from lab.training.short_training import make_net
from stages.schedules.measure import names
from stages.schedules.measure.highest_rate import Trainer, find_edge, schedule_of
from stages.schedules.measure.short_runs import NOTHING_LEARNED, diverged, onset, stretched, train
from tests.stages.schedules.smallest import LENET

GOOD, BAD = np.full(20, 1.0), np.full(20, 2.5)


@given(st.floats(1e-3, 1e3), st.floats(0.01, 100), st.floats(1.01, 1.9))
def test_bisection_finds_an_edge_wherever_it_begins(edge, first, resolution):
    found = find_edge(lambda rate: GOOD if rate <= edge else BAD, first, resolution)
    assert found.stable <= edge < found.diverging
    assert found.diverging / found.stable <= resolution
    assert found.below is GOOD
    assert found.above is BAD


@pytest.mark.parametrize(("losses", "what"), [(GOOD, "every run learns"), (BAD, "no run learns")])
def test_a_search_without_an_edge_ends_with_words(losses, what):
    with pytest.raises(LabError, match=what):
        find_edge(lambda rate: losses, 1.0, 1.1)


def test_a_run_has_diverged_if_it_ends_no_better_than_a_constant_answer():
    assert pytest.approx(math.log(10) * 0.98) == NOTHING_LEARNED
    assert diverged(BAD)
    assert not diverged(GOOD)
    assert diverged(np.array([1.0] * 19 + [math.inf]))
    assert not diverged(np.concatenate([BAD, GOOD])), "it came back"


def test_the_onset_is_where_a_run_learns_nothing_any_more():
    assert onset(BAD) == 0
    assert onset(np.concatenate([GOOD, BAD])) == 50
    assert onset(np.concatenate([GOOD, BAD, GOOD, BAD])) == 80, "the last time counts"
    assert onset(np.array([1.0] * 7 + [math.inf] * 3)) == 70


def test_the_schedules_are_the_notes_at_any_base_rate():
    warm, plain = (stretched(schedule_of(arm, 0.6), 200) for arm in (names.WARM_UP, "no warm-up"))
    assert warm.index(max(warm)) == 50, "after a quarter of the run"
    assert max(warm) == pytest.approx(0.6, rel=0.02)
    assert warm[0] == pytest.approx(0.006, rel=0.01)
    assert plain[0] == pytest.approx(0.6, rel=0.01)
    assert warm[-1] == pytest.approx(0.02, rel=0.05)
    assert plain[-1] == pytest.approx(0.02, rel=0.05)


def images():
    X, y = synthetic.fashion(128, 0)
    return small_images(Split(X, y.astype("int64")), 14, torch.device("cpu"))


def test_a_run_is_sgd_and_ends_where_its_loss_is_not_finite():
    train_set = images()

    def run(rates):
        generator = torch.Generator().manual_seed(0)
        net = make_net(names.LENET, generator, 14)
        return train(net, train_set, rates, 128, generator), net

    losses, net = run([0.1])
    twin = make_net(names.LENET, torch.Generator().manual_seed(0), 14)
    optimizer = torch.optim.SGD(twin.parameters(), 0.1)
    loss = torch.nn.functional.cross_entropy(twin(train_set.X), train_set.y)
    loss.backward()
    optimizer.step()
    assert losses[0] == pytest.approx(loss.item(), rel=1e-5)
    for p, q in zip(net.parameters(), twin.parameters(), strict=True):
        torch.testing.assert_close(p, q)
    assert np.isinf(run([1e30] * 5)[0]).any()


def test_the_same_seed_has_the_same_weights_and_order_in_both_arms():
    trainer = Trainer(names.LENET, 14, images(), LENET)
    plain, warm = (trainer.losses(schedule_of(arm, 0.1), 3) for arm in names.ARMS)
    other = trainer.losses(schedule_of(names.WARM_UP, 0.1), 4)
    assert plain[0] == warm[0] != other[0], "the loss before any step"
    assert plain[5] != warm[5]


def test_resnet18_can_be_searched_too():
    few = LENET.model_copy(update={"steps": 10, "batch_size": 4})
    losses = Trainer(names.RESNET18, 14, images(), few).losses(lambda t: 1e30, 0)
    assert diverged(losses)
