"""What keeps times from deciding anything, as metrics hold it."""

import pytest

from lab.results.disturbances import (
    BUSY,
    LIMIT_PERCENT,
    SLEPT,
    STOPPED,
    Disturbance,
    disturbances_of,
    from_words,
    in_words,
)

STOP, SLEEP = Disturbance(STOPPED, "2×"), Disturbance(SLEPT, "12 s")


def test_words_hold_each_kind_once_and_are_read_back():
    text = in_words([STOP, SLEEP, Disturbance(STOPPED, "1×")])
    assert text == "the process was stopped (2×); the machine slept (12 s)"
    assert from_words(text) == [STOP, SLEEP]
    assert from_words("") == from_words("no brackets") == []


def test_a_machine_is_busy_above_the_limit_and_not_at_it():
    assert disturbances_of({"busy_percent": LIMIT_PERCENT}) == []
    assert disturbances_of({"busy_percent": 93.4}) == [Disturbance(BUSY, "93.4 % > 20 %")]
    both = disturbances_of({"busy_percent": 50.0, "disturbed": in_words([SLEEP])})
    assert both == [Disturbance(BUSY, "50 % > 20 %"), SLEEP]


@pytest.mark.parametrize("busy", [None, "93", float("nan"), [93], {}])
def test_a_load_that_is_no_number_is_none(busy):
    assert disturbances_of({"busy_percent": busy, "disturbed": None}) == []
    assert disturbances_of({}) == []
