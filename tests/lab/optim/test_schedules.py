import pytest
from hypothesis import given
from hypothesis import strategies as st

from lab.optim import schedules
from stages.schedules.__main__ import EPOCHS, SCHEDULES, WARMUP


@pytest.mark.parametrize(
    ("schedule", "at", "rate"),
    [
        (schedules.constant(0.3), 7, 0.3),
        (schedules.square_root(0.1), 3, 0.05),
        (schedules.factor(2.0, 0.9, 0.01), 2, 1.62),
        (schedules.factor(2.0, 0.9, 0.01), 100, 0.01),
        (schedules.multi_step(0.5, 0.5, (15, 30)), 14.9, 0.5),
        (schedules.multi_step(0.5, 0.5, (15, 30)), 15, 0.25),
        (schedules.multi_step(0.5, 0.5, (15, 30)), 31, 0.125),
        (schedules.cosine(0.3, 0.01, 20), 0, 0.3),
        (schedules.cosine(0.3, 0.01, 20), 10, 0.155),
        (schedules.cosine(0.3, 0.01, 20), 25, 0.01),
        (schedules.inverse_sqrt(0.3, 5), 20, 0.15),
        (schedules.one_cycle(0.3, 0.01, 20, 6), 0, 0.03),
        (schedules.one_cycle(0.3, 0.01, 20, 6), 6, 0.3),
        (schedules.one_cycle(0.3, 0.01, 20, 6), 20, 0.01),
    ],
)
def test_a_schedule_has_its_closed_form(schedule, at, rate):
    assert schedule(at) == pytest.approx(rate)


def test_the_notes_schedule_rises_for_five_epochs_and_falls_to_a_hundredth():
    schedule = SCHEDULES["cosine, warm-up"]
    assert [schedule(t) for t in (0, 2.5, 5)] == pytest.approx([0, 0.15, 0.3])
    assert schedule(EPOCHS) == pytest.approx(0.01)
    values = [schedule(t / 10) for t in range(10 * WARMUP, 10 * EPOCHS)]
    assert values == sorted(values, reverse=True)


@given(st.sampled_from(sorted(SCHEDULES)), st.floats(0, 40))
def test_schedules_are_pure_and_positive_after_the_start(name, t):
    schedule = SCHEDULES[name]
    assert schedule(t) == schedule(t)
    assert schedule(t) > 0 or t < 1e-9 or "warm-up" in name


@given(st.floats(0.01, 4.99))
def test_both_warm_ups_meet_their_schedule(t):
    for shift in (True, False):
        warmed = schedules.warm_up(schedules.cosine(0.3, 0.01, 20), 5, shift)
        assert warmed(t) < warmed(5)
        assert warmed(5) == pytest.approx(warmed(4.999999), abs=1e-4)


def test_per_step_rates_are_read_before_the_step():
    warmed = schedules.per_step(schedules.warm_up(schedules.constant(1.0), 2), 3, 4)
    assert warmed == pytest.approx(
        [1 / 16, 3 / 16, 5 / 16, 7 / 16, 9 / 16, 11 / 16, 13 / 16, 15 / 16, 1, 1, 1, 1]
    )


def test_the_books_way_starts_at_the_full_rate_and_then_stands_still():
    plan = schedules.after_epoch(SCHEDULES["cosine, warm-up"], EPOCHS, 2)
    assert len(plan) == 2 * EPOCHS
    assert plan[:2] == [0.3, 0.3]
    assert plan[2:4] == [0, 0]
    assert plan[4] == pytest.approx(0.06)
