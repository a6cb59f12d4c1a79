"""How a finding's change is marked, by its interval, its unit and the machine's speed."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lab.results.diff import Change, Taken, agree, diff, mark_of, speed_of
from lab.results.findings import Finding, Over, Samples, exact, median


def found(
    value: float, spread: float = 0.0, unit: str = "", better: str = "", n: int = 8
) -> Finding:
    return Finding(value, value - spread, value + spread, n, Over.STARTS, unit, better)


@pytest.mark.parametrize(
    ("unit", "better", "old", "new", "spread", "expected"),
    [
        ("s", "less", 10.0, 10.5, 0.5, "within noise"),
        ("s", "less", 10.0, 13.0, 0.5, "worse"),
        ("images/s", "more", 10.0, 13.0, 0.5, "better"),
        ("GB/s", "more", 13.0, 10.0, 0.5, "worse"),
        ("times as fast", "more", 2.0, 2.5, 0.1, "better"),
        ("times as long", "", 2.0, 2.5, 0.1, "changed"),
        ("s", "less", 10.0, 10.1, 0.001, "within noise"),  # under two percent
        ("s", "less", 10.0, 12.0, 1.8, "within noise"),  # their difference may be 0
    ],
)
def test_each_change_gets_its_mark(unit, better, old, new, spread, expected):
    assert mark_of(found(old, spread, unit, better), found(new, spread, unit, better)) == expected


def test_counts_are_judged_but_few_samples_are_not():
    """One seed's accuracy says nothing about the next one's; counts are exact."""
    assert mark_of(found(83.11, n=1), found(93.12, n=1)) == "too few samples"
    assert mark_of(found(20, 0.1, n=3), found(10, 0.1)) == "too few samples"
    counts = [Finding(n, n, n, unit="gradients", better="less") for n in (64, 63.9, 65)]
    assert [mark_of(counts[0], each) for each in counts[1:]] == ["better", "worse"]


def test_findings_on_one_side_only_are_listed_as_gone_or_new():
    kept, gone, come = found(1.0, 0.1), found(2.0), found(3.0)
    missing = Finding(float("nan"), float("nan"), float("nan"), missing="not measured: a, b")
    old = Taken({"kept": kept, "gone": gone, "lost": gone, "never": missing})
    new = Taken({"kept": kept, "come": come, "lost": missing, "never": missing})
    assert [(each.name, each.mark) for each in diff(old, new)] == [
        ("gone", "gone"),
        ("lost", "gone"),
        ("come", "new"),
    ]


def test_a_change_has_a_size_relative_to_its_larger_side():
    sizes = {(0, 3): 1, (3, 0): 1, (4, 3): 0.25, (3, 4): 0.25, (0, 0): 0}
    assert {ends: Change("calls", *map(exact, ends), "").size for ends in sizes} == sizes


def test_times_and_rates_are_judged_relative_to_the_machines_speed():
    faster = (1.2, 1.4)
    for unit, better, new, expected in (
        ("s", "less", 10.8, "the machine's"),
        ("ms", "less", 8.4, "better"),
        ("µs", "less", 12.9, "worse"),
        ("images/s", "more", 18.0, "the machine's"),
        ("images/s", "more", 21.0, "better"),
        ("images/s", "more", 15.0, "worse"),
        ("times as fast", "more", 18.0, "better"),
    ):
        sides = (found(number, 0.3, unit, better) for number in (14.0, new))
        assert mark_of(*sides, faster) == expected, (unit, new)


SPEEDS = ("product_gflops_before", "product_gflops_after", "copy_gbs_before", "copy_gbs_after")


def test_a_slow_and_a_fast_hour_of_one_machine_give_no_verdict_on_the_same_code():
    """Two real runs: 13.8 and 10.8 s per epoch with equal hardware facts."""
    old, new = (
        Taken({"epoch_s": found(seconds, 0.3, "s", "less")}, dict(zip(SPEEDS, speeds, strict=True)))
        for seconds, speeds in ((13.8, (150, 155, 8, 8)), (10.8, (190, 195, 10, 10)))
    )
    assert speed_of(old.conditions, new.conditions) == pytest.approx((190 / 155, 1.3))
    assert [each.mark for each in diff(old, new)] == ["the machine's"]
    without = {key: value for key, value in old.conditions.items() if "before" not in key}
    assert speed_of(without, new.conditions) == (1.0, 1.0)


@pytest.mark.parametrize("busy", [(93.0, 1.0), (1.0, 93.0)])
def test_times_of_a_busy_machine_are_neither_better_nor_worse(busy):
    counted = Finding(2, 2, 2), Finding(1, 1, 1)
    old, new = (
        Taken({"speedup": found(n, 0.1, "", "more"), "calls": calls}, {"busy_percent": percent})
        for percent, n, calls in zip(busy, (2.0, 1.0), counted, strict=True)
    )
    assert [each.mark for each in diff(old, new)] == ["busy machine", "changed"]


def test_nothing_is_judged_across_machines():
    old, new = (
        Taken({"speedup": found(n, 0.1, "", "more")}, {}, {"cpu": name})
        for n, name in ((2.0, "this"), (1.0, "that"))
    )
    assert [each.mark for each in diff(old, new)] == ["other hardware"]


VALUES = st.floats(0.1, 100)


@given(VALUES, VALUES, st.floats(0, 10))
def test_agreement_is_symmetric(one, other, spread):
    sides = found(one, spread), found(other, spread)
    assert agree(*sides) == agree(*reversed(sides))
    assert agree(sides[0], sides[0])


def test_times_need_a_smallest_effect_and_results_of_seeds_do_not():
    """One certain point of accuracy counts, though small relative to 84%; 1% of a time does not."""
    for over, unit, mark in ((Over.SEEDS, "%", "better"), (Over.STARTS, "s", "within noise")):
        old, new = (
            Finding(value, value - 0.1, value + 0.1, 8, over, unit, "more")
            for value in (84.0, 85.0)
        )
        assert mark_of(old, new) == mark


def test_agreement_is_a_difference_within_the_intervals():
    """Two intervals of half-width 3 explain differences up to the square root of 18."""
    one = median(Samples((7, 10, 13)))
    assert agree(one, median(Samples((11.2, 14.2, 17.2))))
    assert not agree(one, median(Samples((11.3, 14.3, 17.3))))
    assert agree(exact(2), exact(2))
    assert not agree(exact(2), exact(2.1)), "exact numbers have no interval"
    assert not agree(None, exact(2))
