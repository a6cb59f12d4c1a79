"""Seconds to an accuracy, by made-up rows whose answers are known."""

import pytest

from stages.together.measure import names
from stages.together.measure.seconds_to import seconds_to


def row(rung, target, seed, epoch, seconds, accuracy):
    return {
        names.RUNG: rung,
        names.TARGET: target,
        names.SEED: seed,
        names.EPOCH: epoch,
        names.SECONDS: seconds,
        names.ACCURACY: accuracy,
    }


ROWS = [
    row(names.NOTES, 0, 0, 1, 20.0, ""),
    row(names.NOTES, 0, 1, 1, 22.0, ""),
    *[row(names.BF16, 83, 0, e, 5.0 * e, accuracy) for e, accuracy in ((1, 50), (2, 84))],
    *[row(names.BF16, 83, 1, e, 6.0 * e, a) for e, a in ((1, 10), (2, 82.9), (3, 83))],
    row(names.ONE_CYCLE, 83, 0, 1, 4.0, 82.5),
    row(names.ONE_CYCLE, 83, 1, 1, 4.2, 83.6),
    *[row(names.ONE_CYCLE, 90, s, e, 4.0 * e, a) for s in (0, 1) for e, a in ((1, 91), (2, 89))],
]


def test_at_a_constant_rate_the_first_epoch_that_is_as_good_counts_for_each_seed():
    found = seconds_to(ROWS, names.BF16, 83)
    assert (found.seconds, found.epochs, found.reached) == ((10.0, 18.0), (2, 3), True)
    assert found.median == 14.0
    assert found.accuracy == pytest.approx(83.5)
    assert seconds_to(ROWS, names.BF16, 84) is None, "trained no further than 83 %"
    longer = [{**row, names.TARGET: 84} for row in ROWS if row[names.RUNG] == names.BF16]
    missed = seconds_to(longer, names.BF16, 84)
    assert (missed.seconds, missed.reached) == ((10.0, 18.0), False), "one seed ends before"


def test_what_was_timed_in_part_takes_as_many_epochs_as_the_same_steps_in_bfloat16():
    found = seconds_to(ROWS, names.NOTES, 83)
    assert (found.seconds, found.extrapolated, found.reached) == ((40.0, 66.0), True, True)
    assert seconds_to(ROWS, names.NOTES, 84) is None


def test_one_cycle_counts_to_its_end_and_by_the_mean_of_its_seeds():
    found = seconds_to(ROWS, names.ONE_CYCLE, 83)
    assert (found.seconds, found.reached, found.extrapolated) == ((4.0, 4.2), True, False)
    assert found.accuracy == pytest.approx(83.05)
    assert not seconds_to(ROWS, names.ONE_CYCLE, 90).reached, "not in the end, where it counts"


def test_what_was_not_measured_has_no_seconds():
    assert seconds_to(ROWS, names.TWO_DEVICES, 83) is None
    assert seconds_to(ROWS, names.ONE_CYCLE, 75) is None
    assert seconds_to(ROWS[:1], names.NOTES, 83) is None
