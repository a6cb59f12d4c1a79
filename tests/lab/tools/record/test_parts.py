"""What comes first in a visit, and how long it may take."""

from lab.tools.record.parts import Part, deadline_s, in_order

FOUR = [Part(name, share) for name, share in zip("abcd", (50, 25, 20, 5), strict=True)]


def test_the_goals_come_first_and_what_takes_several_gpus_last_unless_they_are_there():
    one, two = ([part.folder for part in in_order(gpus)] for gpus in (1, 2))
    assert one[0] == two[0] == "bench_training"
    assert one[-3:] == ["scaling", "bench_collectives", "bench_buckets"]
    assert two[-2:] == ["train/resnet18_1gpu", "train/resnet18_2gpu"]
    assert sorted(one) == sorted(two)
    assert in_order(0) == in_order(1)


def test_a_part_gets_its_share_and_what_earlier_ones_left():
    assert deadline_s(FOUR, 1000) == 500 - 20
    assert deadline_s(FOUR[1:], 500) == 250 - 20, "all of its own 500 s were used"
    assert deadline_s(FOUR[1:], 900) == 450 - 20, "100 s were: the others share what is left"
    assert deadline_s(FOUR[3:], 8) == 6, "a quarter of a short time is left to write in"
    assert deadline_s(FOUR, -3) == 0
