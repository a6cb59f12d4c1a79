"""Findings computed by hand: what builders make of samples, and of missing ones."""

import math
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lab.results.findings import (
    Finding,
    Over,
    Samples,
    combine,
    difference,
    exact,
    median,
    of_one_run,
    ratio,
    share_of_cases,
)
from lab.results.measurements import Measurement, Results, skip
from lab.results.reasons import Reason
from lab.results.stats import Range

TIMES = st.lists(st.floats(1e-3, 1e3), min_size=1, max_size=12).map(tuple)


def test_builders_by_hand():
    three = Samples((3.0, 1.0, 2.0), frozenset({"cpu"}))
    kinds = frozenset({"cpu"})
    assert median(three, "ms", better="less") == Finding(
        2, 1, 3, 3, Over.STARTS, "ms", "less", kinds
    )
    halves = Samples((2.0, 2.0, 2.0))
    assert ratio(Samples((4.0, 6.0, 8.0)), halves) == Finding(
        3, 2, 4, 3, Over.STARTS, "times as fast", "more"
    )
    assert difference(Samples((5.0, 5.0)), Samples((4.0, 2.0)), "points") == Finding(
        2, 1, 3, 2, Over.SEEDS, "points"
    )
    assert exact(3, "calls") == exact(Samples((3.0,)), "calls") == Finding(3, 3, 3, unit="calls")
    assert of_one_run(7, "s") == Finding(7, 7, 7, 1, Over.STARTS, "s")
    largest = combine(max, Samples((1.0, 5.0)), Samples((2.0, 4.0)))
    assert largest == Samples((2.0, 5.0))
    assert Samples((1.0, 5.0)) * 2 == Samples((2.0, 10.0))


def test_a_share_of_cases_decides_only_if_each_case_does():
    cases = [Finding(2, 1.5, 3, n, Over.STARTS) for n in (8, 3)]
    assert share_of_cases(cases[:1], Range(low=1)).decides
    assert not share_of_cases(cases, Range(low=1)).decides


def test_exact_numbers_decide_and_others_only_with_enough_samples():
    assert exact(3).decides
    assert (exact(3).level, exact(3).timed) == (1, False)
    for n, decides in ((1, False), (3, False), (4, True), (8, True)):
        found = median(Samples((2.0,) * n))
        assert (found.decides, found.timed) == (decides, True)
    assert not of_one_run(0.93, "%", over=Over.SEEDS).decides
    assert not median(Samples((2.0,) * 8), over=Over.SEEDS).timed


@given(TIMES, TIMES)
def test_a_speed_up_and_its_inverse_have_inverse_intervals(old, new):
    count = min(len(old), len(new))
    a, b = Samples(old[:count]), Samples(new[:count])
    there, back = ratio(a, b), ratio(b, a)
    assert there.consistent()
    assert there.low * back.high == pytest.approx(1, rel=1e-9)
    opposite = {"faster": "slower", "slower": "faster", "inconclusive": "inconclusive"}
    if abs(there.low - 1.02) > 1e-9 and abs(back.low - 1.02) > 1e-9:
        assert back.verdict == opposite[there.verdict]


def test_no_speed_up_is_within_two_percent_of_one_or_from_few_samples():
    for low, high, verdict in (
        (1.03, 1.2, "faster"),
        (1.01, 1.2, "inconclusive"),
        (0.99, 1.01, "inconclusive"),
        (0.5, 0.97, "slower"),
        (0.5, 0.99, "inconclusive"),
    ):
        found = Finding((low + high) / 2, low, high, 8, Over.STARTS)
        assert found.verdict == verdict
        assert replace(found, n=3).verdict == "inconclusive", "75 %"


GONE = Samples(missing=Reason("skipped", "needs_gpu"))
THERE = Samples((1.0, 2.0))


def test_missing_samples_stay_missing_and_say_why():
    for found in (
        median(GONE),
        ratio(GONE, THERE),
        ratio(THERE, GONE),
        difference(THERE, GONE, "points"),
        exact(GONE),
        median(combine(max, THERE, GONE, THERE)),
        median(GONE * 2),
    ):
        assert not found
        assert found.missing == GONE.missing
        assert not found.consistent()
    assert ratio(GONE, THERE, "times as long").unit == "times as long", "it keeps its unit"


@pytest.mark.parametrize("bad", [math.nan, math.inf, 0.0, -1.0])
def test_an_invalid_time_makes_no_ratio(bad):
    assert not ratio(THERE, Samples((1.0, bad)))
    assert not ratio(Samples((bad, 1.0)), THERE)


def test_samples_of_different_counts_cannot_be_combined():
    assert not THERE - Samples((1.0,))
    assert not exact(THERE)
    assert not exact(math.nan)


def test_numbers_outside_their_own_interval_are_inconsistent():
    sound = Finding(1.5, 1, 2, 8, Over.STARTS)
    assert sound.consistent()
    for broken in (
        replace(sound, value=3),
        replace(sound, value=math.nan),
        replace(sound, low=-math.inf),
        replace(sound, n=0),
        replace(sound, over=None),
        Finding(1.5, 1, 2),
    ):
        assert not broken.consistent()


def test_a_share_of_cases_counts_those_that_hold_by_median_surely_and_maybe():
    ends = [(2.5, 3, 4), (1, 3, 5), (1, 1.5, 3), (0.1, 0.2, 0.3)]
    cases = [Finding(value, low, high, 8, Over.STARTS) for low, value, high in ends]
    found = share_of_cases(cases, Range(low=2))
    assert (found.low, found.value, found.high) == (25, 50, 75)


def test_a_change_of_unit_keeps_the_ends_in_order():
    found = Finding(2, 1, 4, 8, Over.STARTS)
    assert found * 1000 == Finding(2000, 1000, 4000, 8, Over.STARTS)
    assert found * -1 == Finding(-2, -4, -1, 8, Over.STARTS)


def test_results_give_samples_at_one_x_or_all_or_the_reason_for_none():
    def at(x: float, *values: float, **columns: float) -> Measurement:
        return Measurement("times", "fast", x, values, "ms", "cuda", columns=columns)

    results = Results(
        [
            at(8, 3.0, n=2.0),
            at(4, 1.0, 2.0, n=2.0),
            skip("times", "slow", Reason("needs", "g++"), "cpu"),
        ],
        {"starts": 2},
    )
    assert results.samples("times", "fast", 4) == Samples((1.0, 2.0), frozenset({"cuda"}))
    assert results.samples("times", "fast", n=2).values == (1.0, 2.0, 3.0), "by growing x"
    assert results.xs("times", "fast") == [4, 8]
    assert results.samples("times", "slow").missing == Reason("skipped", "needs: g++")
    assert results.samples("times", "fast", 5).missing == Reason("not_measured", "times, fast, x 5")
    assert results.samples("times", "fast", n=3).missing == Reason("not_measured", "times, fast, 3")
