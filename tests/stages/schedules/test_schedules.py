"""What `schedules` draws, tries and derives."""

from statistics import median

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lab.optim.schedules import after_epoch
from lab.results.curves import line
from stages.schedules.__main__ import summarise
from stages.schedules.measure import names
from stages.schedules.measure.book_schedules import EPOCHS, SCHEDULES, WARM_UP_EPOCHS
from tests import smallest


def test_what_is_drawn_is_tried():
    curves, m = smallest.results("schedules")
    tried = {c.series: c for c in curves if c.demo == names.ACCURACY}
    assert set(tried) == {c.series for c in curves if c.demo == names.SCHEDULE}
    assert set(tried) == {*SCHEDULES, names.AS_THE_BOOK}
    assert all(len(c.y) == 2 and ((c.y >= 0) & (c.y <= 100)).all() for c in tried.values())
    assert len(m) <= 12


def test_the_best_schedule_is_chosen_by_other_seeds_than_those_it_is_judged_by():
    accuracies = {names.CONSTANT: [50, 50, 70, 70], names.COSINE: [60, 60, 40, 42]}
    curves = [line(names.ACCURACY, name, range(4), y) for name, y in accuracies.items()]
    for arm, rates in ((names.NO_WARM_UP, [1.0, 2.0, 4.0]), (names.WARM_UP, [2.0, 6.0, 4.0])):
        curves.append(line(names.STABLE_RATE, names.arm_of(names.LENET, arm), range(3), rates))
    m = summarise(curves)
    assert (m[names.BEST_SCHEDULE], m[names.BEST_ACCURACY]) == (names.COSINE, 41)
    assert m[names.CONSTANT_ACCURACY] == 70
    assert m[names.gain(names.LENET)] == 2, "the median of 2, 3 and 1: paired by seed"
    assert m[names.NETS] == names.LENET


def test_each_arm_has_a_rate_an_onset_and_a_loss_for_each_seed():
    curves, _ = smallest.results("schedules")
    for demo in (names.STABLE_RATE, names.ONSET, names.PROGRESS):
        arms = {c.series: c.y for c in curves if c.demo == demo}
        assert set(arms) == {names.arm_of(names.LENET, arm) for arm in names.ARMS}
        assert all(len(y) == 2 and np.isfinite(y).all() for y in arms.values()), demo
    steps = {c.series: median(c.y) for c in curves if c.demo == names.ADAM_STEP}
    assert steps[names.TENFOLD] != steps[names.ADAM_RATE]


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
