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


def test_a_schedule_has_its_closed_form():
    for name, schedule, at, rate in (
        ("constant", constant(0.3), 7, 0.3),
        ("square_root", square_root(0.1), 3, 0.05),
        ("factor", factor(2.0, 0.9, 0.01), 2, 1.62),
        ("factor", factor(2.0, 0.9, 0.01), 100, 0.01),
        ("multi_step", multi_step(0.5, 0.5, (15, 30)), 14.9, 0.5),
        ("multi_step", multi_step(0.5, 0.5, (15, 30)), 15, 0.25),
        ("multi_step", multi_step(0.5, 0.5, (15, 30)), 31, 0.125),
        ("cosine", cosine(0.3, 0.01, 20), 0, 0.3),
        ("cosine", cosine(0.3, 0.01, 20), 10, 0.155),
        ("cosine", cosine(0.3, 0.01, 20), 25, 0.01),
        ("inverse_sqrt", inverse_sqrt(0.3, 5), 20, 0.15),
        ("one_cycle", one_cycle(0.3, 0.01, 20, 6), 0, 0.03),
        ("one_cycle", one_cycle(0.3, 0.01, 20, 6), 6, 0.3),
        ("one_cycle", one_cycle(0.3, 0.01, 20, 6), 20, 0.01),
    ):
        assert schedule(at) == pytest.approx(rate), (name, at)


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


def test_after_epoch_every_epoch_lags_by_one_and_the_first_has_the_highest_rate():
    assert after_epoch(multi_step(0.4, 0.5, (2,)), 4, 2) == [0.4] * 6 + [0.2] * 2
    assert after_epoch(warm_up(constant(1.0), 2), 4, 1) == [1.0, 0.0, 0.5, 1.0]


def test_a_run_has_one_rate_or_one_cycle_that_peaks_at_it_and_ends_at_0():
    assert per_step(named("constant", 0.3, 2), 2, 3) == [0.3] * 6
    rates = per_step(named("one_cycle", 0.4, 4), 4, 50)
    assert rates[0] == pytest.approx(0.04, rel=0.1)
    peak = rates.index(max(rates))
    assert (peak, rates[peak]) == (pytest.approx(50, abs=1), pytest.approx(0.4, rel=0.02))
    assert rates == [*sorted(rates[:peak]), *sorted(rates[peak:], reverse=True)]
    assert rates[-1] < 0.4 / 100
