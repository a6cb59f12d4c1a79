"""What comes first in a visit, and how long it may take."""

import pytest

from lab.tools.record.parts import Part, in_order, slice_of

FOUR = [Part(name, share) for name, share in zip("abcd", (50, 25, 20, 5), strict=True)]


def test_the_goals_come_first_and_what_takes_several_gpus_last_unless_they_are_there():
    one, two = ([part.folder for part in in_order(gpus)] for gpus in (1, 2))
    assert one[0] == two[0] == "bench_training"
    assert one[-3:] == ["scaling", "bench_collectives", "bench_buckets"]
    assert two[-2:] == ["train/resnet18_1gpu", "train/resnet18_2gpu"]
    assert sorted(one) == sorted(two)
    assert in_order(0) == in_order(1)


def test_a_part_gets_its_share_and_what_earlier_ones_left():
    assert slice_of(FOUR, 1000).soft_s == 500 - 20
    assert slice_of(FOUR[1:], 500).soft_s == 250 - 20, "all of its own 500 s were used"
    assert slice_of(FOUR[1:], 900).soft_s == 450 - 20, "100 s were: the others share what is left"
    assert slice_of(FOUR[3:], 8).soft_s == 6, "a quarter of a short time is left to write in"


@pytest.mark.parametrize("budget_s", [0.0, 5.0, 60.0, 600.0])
def test_a_visit_keeps_within_its_budget_even_if_every_part_has_to_be_ended(budget_s):
    left = budget_s
    for i in range(len(FOUR)):
        time_s = slice_of(FOUR[i:], left)
        assert 0 <= time_s.soft_s <= time_s.hard_s <= left
        left -= time_s.hard_s
    assert left == pytest.approx(0), "and all of it is used"


def test_without_time_nothing_is_begun():
    assert slice_of(FOUR, -3).hard_s <= 0
