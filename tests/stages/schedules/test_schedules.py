"""Schedules, rate searches and findings of `schedules`."""

import math
from dataclasses import replace

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from lab.claims.rules import Verdict
from lab.core.errors import LabError
from lab.data import synthetic
from lab.data.datasets import Split
from lab.data.images import small_images
from lab.results.measurements import Results, by_seed, rows_of
from lab.training.short_training import make_net
from stages.schedules.findings import best_schedule, findings
from stages.schedules.measure.by_schedule import EPOCHS, SCHEDULES, WARM_UP_EPOCHS
from stages.schedules.measure.highest_rate import (
    RateSearch,
    bisect_limit,
    divergence_time,
    schedule_of,
)
from stages.schedules.measure.names import CONSTANT, NO_WARM_UP, WARM_UP
from tests.helpers import verdicts
from tests.stages.schedules.made_up import schedule_results
from tests.stages.schedules.smallest import LENET


def test_the_best_schedule_is_chosen_and_judged_by_different_seeds():
    accuracies = {CONSTANT: [50, 50, 70, 70], "cosine": [60, 60, 40, 42]}
    made = [by_seed("schedule_accuracy", name, y) for name, y in accuracies.items()]
    for variant, rates in ((NO_WARM_UP, [1.0, 2.0, 4.0]), (WARM_UP, [2.0, 6.0, 4.0])):
        limits = by_seed("highest_stable_rate", variant, rates)
        made.append(replace(limits, columns={"net": "lenet"}))
    found = findings(Results(made))
    assert best_schedule(Results(made)) == "cosine"
    assert found["best_accuracy_percent"].value == 41
    assert found["constant_accuracy_percent"].value == 70
    assert found["lenet_warm_up_gain"].value == 2, "the median of 2, 3 and 1: paired by seed"


def test_nets_are_compared_by_the_seeds_that_both_have():
    made = [
        replace(by_seed("highest_stable_rate", NO_WARM_UP, rates), columns={"net": net})
        for net, rates in (("lenet", [2.0, 4.0, 9.0]), ("resnet18", [1.0, 4.0]))
    ]
    found = findings(Results(made))["lenet_over_resnet18"]
    assert (found.value, found.n) == (1.5, 2), "the median of 2 and 1"


def test_the_notes_schedule_rises_for_five_epochs_and_falls_to_a_hundredth():
    schedule = SCHEDULES["cosine, warm-up"]
    assert [schedule(t) for t in (0, 2.5, 5)] == pytest.approx([0, 0.15, 0.3])
    assert schedule(EPOCHS) == pytest.approx(0.01)
    values = [schedule(t / 10) for t in range(10 * WARM_UP_EPOCHS, 10 * EPOCHS)]
    assert values == sorted(values, reverse=True)


def test_a_net_that_was_not_trained_is_not_judged():
    made = schedule_results({"lenet": (2.0, 1.0)})
    metrics = {"dataset": "fashion-mnist", "nets": "lenet"}
    found = verdicts("schedules", metrics, rows_of(made))
    assert found["F20b"] is Verdict.REFUTED
    assert found["F20g"] is Verdict.NOT_TESTABLE


GOOD, BAD = np.full(20, 1.0), np.full(20, 2.5)


@given(st.floats(1e-3, 1e3), st.floats(0.01, 100), st.floats(1.01, 1.9))
def test_bisection_finds_the_limit_wherever_it_begins(edge, first, resolution):
    found = bisect_limit(lambda rate: GOOD if rate <= edge else BAD, first, resolution)
    assert found.stable <= edge < found.diverging
    assert found.diverging / found.stable <= resolution
    assert found.below is GOOD
    assert found.above is BAD


@pytest.mark.parametrize(("losses", "what"), [(GOOD, "every run learns"), (BAD, "no run learns")])
def test_a_search_without_a_limit_fails_and_says_why(losses, what):
    with pytest.raises(LabError, match=what):
        bisect_limit(lambda rate: losses, 1.0, 1.1)


def test_the_time_of_divergence_is_when_a_run_stops_learning_for_good():
    assert divergence_time(BAD) == 0
    assert divergence_time(np.concatenate([GOOD, BAD])) == 50
    assert divergence_time(np.concatenate([GOOD, BAD, GOOD, BAD])) == 80, "the last time counts"
    assert divergence_time(np.array([1.0] * 7 + [math.inf] * 3)) == 70


def images():
    X, y = synthetic.fashion(128, 0)
    return small_images(Split(X, y.astype("int64")), 14, torch.device("cpu"))


def test_a_run_is_sgd_and_ends_where_its_loss_is_not_finite():
    train_set = images()
    params = LENET.model_copy(update={"steps": 3, "batch_size": 128})
    losses = RateSearch("lenet", 14, train_set, params).losses(lambda t: 0.1, 0)
    net = make_net("lenet", torch.Generator().manual_seed(0), 14)
    optimizer = torch.optim.SGD(net.parameters(), 0.1)
    for loss in losses:  # each batch is the whole set
        expected = torch.nn.functional.cross_entropy(net(train_set.X), train_set.y)
        assert loss == pytest.approx(expected.item(), rel=1e-4)
        optimizer.zero_grad()
        expected.backward()
        optimizer.step()
    lost = RateSearch("lenet", 14, train_set, LENET).losses(lambda t: 1e30, 0)
    assert np.isinf(lost[-1])


def test_one_seed_gives_both_variants_the_same_weights_and_order():
    trainer = RateSearch("lenet", 14, images(), LENET)
    plain, warm = (
        trainer.losses(schedule_of(variant, 0.1), 3) for variant in (NO_WARM_UP, WARM_UP)
    )
    other = trainer.losses(schedule_of(WARM_UP, 0.1), 4)
    assert plain[0] == warm[0] != other[0], "the loss before any step"
    assert plain[5] != warm[5]
