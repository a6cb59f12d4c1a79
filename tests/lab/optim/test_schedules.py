import pytest
from hypothesis import given
from hypothesis import strategies as st

from lab.optim.schedules import (
    after_epoch,
    constant,
    cosine,
    factor,
    inverse_sqrt,
    multi_step,
    named,
    one_cycle,
    per_step,
    square_root,
    warm_up,
)

CYCLE = one_cycle(0.3, 0.01, 20, 6)


@pytest.mark.parametrize(
    ("schedule", "at", "rate"),
    [
        (constant(0.3), 7, 0.3),
        (square_root(0.1), 3, 0.05),
        (factor(2.0, 0.9, 0.01), 2, 1.62),
        (factor(2.0, 0.9, 0.01), 100, 0.01),
        (multi_step(0.5, 0.5, (15, 30)), 14.9, 0.5),
        (multi_step(0.5, 0.5, (15, 30)), 15, 0.25),
        (multi_step(0.5, 0.5, (15, 30)), 31, 0.125),
        (cosine(0.3, 0.01, 20), 0, 0.3),
        (cosine(0.3, 0.01, 20), 10, 0.155),
        (cosine(0.3, 0.01, 20), 25, 0.01),
        (inverse_sqrt(0.3, 5), 20, 0.15),
        (CYCLE, 0, 0.03),
        (CYCLE, 6, 0.3),
        (CYCLE, 20, 0.01),
    ],
)
def test_schedules_match_their_closed_forms(schedule, at, rate):
    assert schedule(at) == pytest.approx(rate)


@given(st.floats(0.01, 4.99))
def test_both_warm_ups_meet_their_schedule(t):
    for shift in (True, False):
        warmed = warm_up(cosine(0.3, 0.01, 20), 5, shift)
        assert warmed(t) < warmed(5)
        assert warmed(5) == pytest.approx(warmed(4.999999), abs=1e-4)


def test_per_step_rates_are_read_before_the_step():
    warmed = per_step(warm_up(constant(1.0), 2), 3, 4)
    rising = [1 / 16, 3 / 16, 5 / 16, 7 / 16, 9 / 16, 11 / 16, 13 / 16, 15 / 16]
    assert warmed == pytest.approx([*rising, 1, 1, 1, 1])


def test_rates_after_the_epoch_lag_by_one():
    assert after_epoch(multi_step(0.4, 0.5, (2,)), 4, 2) == [0.4] * 6 + [0.2] * 2
    assert after_epoch(warm_up(constant(1.0), 2), 4, 1) == [1.0, 0.0, 0.5, 1.0]


def test_named_schedules_of_a_run():
    assert per_step(named("constant", 0.3, 2), 2, 3) == [0.3] * 6
    rates = per_step(named("one_cycle", 0.4, 4), 4, 50)
    assert rates[0] == pytest.approx(0.04, rel=0.1)
    peak = rates.index(max(rates))
    assert (peak, rates[peak]) == (pytest.approx(50, abs=1), pytest.approx(0.4, rel=0.02))
    assert rates == [*sorted(rates[:peak]), *sorted(rates[peak:], reverse=True)]
    assert rates[-1] < 0.4 / 100
