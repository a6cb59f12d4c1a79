"""What `schedules` draws, tries and derives."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lab.optim.schedules import after_epoch
from stages.schedules import names
from stages.schedules.book_schedules import EPOCHS, SCHEDULES, WARM_UP_EPOCHS
from stages.schedules.section import section
from tests import smallest


def test_what_is_drawn_is_tried_and_the_best_is_named():
    curves, m = smallest.results("schedules")
    tried = {c.series: c for c in curves if c.demo == names.ACCURACY}
    assert set(tried) == {c.series for c in curves if c.demo == names.SCHEDULE}
    assert set(tried) == {*SCHEDULES, names.AS_THE_BOOK}
    accuracies = {name: 100 * tried[name].y[0] for name in SCHEDULES}
    assert m[names.BEST_ACCURACY] == pytest.approx(max(accuracies.values()), abs=1e-3)
    assert accuracies[m[names.BEST_SCHEDULE]] == max(accuracies.values())
    assert m[names.CONSTANT_ACCURACY] == pytest.approx(accuracies[names.CONSTANT], abs=1e-3)
    assert len(m) <= 12


def test_each_arm_of_warm_up_has_its_share_of_failures():
    curves, m = smallest.results("schedules")
    arms = {c.series: c for c in curves if c.demo == names.FAILURES}
    assert set(arms) == {names.NO_WARM_UP, names.WARM_UP, names.AS_THE_BOOK}
    for arm, c in arms.items():
        assert m[names.FAILED_PERCENT[arm]] == pytest.approx(100 * c.y.mean())
        assert ((c.y >= 0) & (c.y <= 1)).all(), arm


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


def test_the_page_says_what_was_found(tmp_path):
    smallest.write("schedules", tmp_path)
    ranking, warm_up, as_the_book = section(tmp_path / "schedules").findings
    _, m = smallest.results("schedules")
    assert f"best of {len(SCHEDULES)} schedules, {m[names.BEST_SCHEDULE]}, ends at" in ranking
    assert f"With warm-up {m[names.FAILED_PERCENT[names.WARM_UP]]:.1f} %" in warm_up
    assert f"{m[names.FAILED_PERCENT[names.AS_THE_BOOK]]:.1f} % fail" in as_the_book
