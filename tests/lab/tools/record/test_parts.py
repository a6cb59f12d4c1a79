"""Deadlines of the parts of a visit."""

from lab.tools.record.parts import VisitPart, deadline_s

FOUR = [VisitPart(name, share) for name, share in zip("abcd", (50, 25, 20, 5), strict=True)]


def test_a_part_gets_its_share_and_the_time_that_earlier_ones_left():
    assert deadline_s(FOUR, 1000) == 500 - 20
    assert deadline_s(FOUR[1:], 500) == 250 - 20, "all of its own 500 s were used"
    assert deadline_s(FOUR[1:], 900) == 450 - 20, "100 s were: the others share what is left"
    assert deadline_s(FOUR[3:], 8) == 6, "a quarter of a short time is left to write in"
    assert deadline_s(FOUR, -3) == 0
