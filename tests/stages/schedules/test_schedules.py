"""What `schedules` draws, tries and derives."""

import math

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from lab.claims.rules import Estimate, Over, Verdict
from lab.core.errors import LabError
from lab.data import synthetic
from lab.data.datasets import Split
from lab.data.images import small_images
from lab.optim.schedules import after_epoch
from lab.results.curves import line, rows_of
from lab.training.short_training import make_net
from stages.schedules.__main__ import summarise
from stages.schedules.measure import names
from stages.schedules.measure.book_schedules import EPOCHS, SCHEDULES, WARM_UP_EPOCHS
from stages.schedules.measure.highest_rate import Trainer, find_edge, schedule_of
from stages.schedules.measure.short_runs import NOTHING_LEARNED, diverged, onset, stretched, train
from stages.schedules.page import claims
from tests import smallest
from tests.helpers import verdicts
from tests.stages.schedules.made_up import schedule_curves
from tests.stages.schedules.smallest import LENET


def test_what_is_drawn_is_tried():
    curves, m = smallest.results("schedules")
    tried = {c.series: c for c in curves if c.experiment == names.ACCURACY}
    assert set(tried) == {c.series for c in curves if c.experiment == names.SCHEDULE}
    assert set(tried) == {*SCHEDULES, names.AS_THE_BOOK}
    assert all(len(c.y) == 2 and ((c.y >= 0) & (c.y <= 100)).all() for c in tried.values())
    assert len(m) <= 12


def test_the_best_schedule_is_chosen_by_other_seeds_than_those_it_is_judged_by():
    accuracies = {names.CONSTANT: [50, 50, 70, 70], names.COSINE: [60, 60, 40, 42]}
    curves = [line(names.ACCURACY, name, range(4), y) for name, y in accuracies.items()]
    for variant, rates in ((names.NO_WARM_UP, [1.0, 2.0, 4.0]), (names.WARM_UP, [2.0, 6.0, 4.0])):
        curves.append(
            line(names.STABLE_RATE, names.variant_of(names.LENET, variant), range(3), rates)
        )
    m = summarise(curves)
    assert (m[names.BEST_SCHEDULE], m[names.BEST_ACCURACY]) == (names.COSINE, 41)
    assert m[names.CONSTANT_ACCURACY] == 70
    assert m[names.gain(names.LENET)] == 2, "the median of 2, 3 and 1: paired by seed"
    assert m[names.NETS] == names.LENET


def test_each_variant_has_a_rate_for_each_seed_and_without_warm_up_an_onset():
    curves, _ = smallest.results("schedules")
    for experiment, variants in (
        (names.STABLE_RATE, names.VARIANTS),
        (names.ONSET, [names.NO_WARM_UP]),
    ):
        found = {c.series: c.y for c in curves if c.experiment == experiment}
        assert set(found) == {names.variant_of(names.LENET, variant) for variant in variants}
        assert all(len(y) == 2 and np.isfinite(y).all() for y in found.values()), experiment


def test_the_notes_schedule_rises_for_five_epochs_and_falls_to_a_hundredth():
    schedule = SCHEDULES[names.COSINE_WARM_UP]
    assert [schedule(t) for t in (0, 2.5, 5)] == pytest.approx([0, 0.15, 0.3])
    assert schedule(EPOCHS) == pytest.approx(0.01)
    values = [schedule(t / 10) for t in range(10 * WARM_UP_EPOCHS, 10 * EPOCHS)]
    assert values == sorted(values, reverse=True)


def test_as_the_book_applies_it_the_first_epoch_has_the_full_rate_and_the_second_none():
    plan = after_epoch(SCHEDULES[names.COSINE_WARM_UP], EPOCHS, 2)
    assert len(plan) == 2 * EPOCHS
    assert plan[:2] == [0.3, 0.3]
    assert plan[2:4] == [0, 0]
    assert plan[4] == pytest.approx(0.06)


@given(st.floats(0, 40))
def test_schedules_are_pure_and_positive_after_the_start(t):
    for name, schedule in SCHEDULES.items():
        rate = schedule(t)
        assert schedule(t) == rate, name
        assert rate > 0 or t < 1e-9, name


def draw(page, folder):
    for figure in page.figures:
        figure.draw(folder)


def test_nets_are_compared_over_their_common_seeds():
    found = claims.ratio_of_common_seeds([2.0, 4.0, 6.0, 100.0], [1.0, 1.0, 1.0])
    assert found == Estimate(4, 2, 6, 0.75, 3, Over.SEEDS)
    assert found.level == pytest.approx(0.75)


def test_net_that_was_not_trained_is_not_judged():
    made = schedule_curves({names.LENET: (2.0, 1.0)})
    metrics = {"dataset": "fashion-mnist", **summarise(made)}
    found = verdicts(claims.CLAIMS, "schedules", metrics, rows_of(made))
    assert found["F20b"] is Verdict.REFUTED
    assert found["F20g"] is Verdict.NOT_TESTABLE


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
    warm, plain = (
        stretched(schedule_of(variant, 0.6), 200) for variant in (names.WARM_UP, "no warm-up")
    )
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


def test_the_same_seed_has_the_same_weights_and_order_in_both_variants():
    trainer = Trainer(names.LENET, 14, images(), LENET)
    plain, warm = (trainer.losses(schedule_of(variant, 0.1), 3) for variant in names.VARIANTS)
    other = trainer.losses(schedule_of(names.WARM_UP, 0.1), 4)
    assert plain[0] == warm[0] != other[0], "the loss before any step"
    assert plain[5] != warm[5]


def test_resnet18_can_be_searched_too():
    few = LENET.model_copy(update={"steps": 10, "batch_size": 4})
    losses = Trainer(names.RESNET18, 14, images(), few).losses(lambda t: 1e30, 0)
    assert diverged(losses)
