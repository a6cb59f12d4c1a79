import time

import pytest

from lab.timing.deadline import DEADLINE_VARIABLE, LATEST_VARIABLE, until_deadline


@pytest.mark.parametrize(
    ("deadline", "latest", "seconds", "made"),
    [
        ("inf", "inf", [10] * 6, 6),
        ("55", "100", [10] * 6, 5),  # the sixth would end at 60
        ("60", "100", [10] * 6, 6),
        ("5", "100", [10] * 6, 4),  # which decide something
        ("5", "35", [10] * 6, 3),
        ("5", "34", [20, 5, 5], 1),  # the next is expected to take as long as the one before
        ("5", "44", [20, 5, 5], 3),
        ("-1", "-1", [10] * 6, 1),
    ],
)
def test_starts_that_end_in_time_and_one_at_least(monkeypatch, deadline, latest, seconds, made):
    """By a clock that advances by what each start takes."""
    now = 0.0
    monkeypatch.setattr(time, "monotonic", lambda: now)
    monkeypatch.setenv(DEADLINE_VARIABLE, deadline)
    monkeypatch.setenv(LATEST_VARIABLE, latest)
    numbers = []
    for start in until_deadline(len(seconds)):
        numbers.append(start)
        now += seconds[start]
    assert numbers == list(range(made))
