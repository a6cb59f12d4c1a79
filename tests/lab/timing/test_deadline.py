import time

import pytest

from lab.timing.deadline import DEADLINE_VARIABLE, until_deadline


@pytest.mark.parametrize(
    ("deadline", "seconds", "made"),
    [
        ("inf", [10] * 5, 5),
        ("35", [10] * 5, 3),  # the fourth would end at 40
        ("40", [10] * 5, 4),
        ("34", [20, 5, 5, 5, 5], 1),  # the next is expected to take as long as the one before
        ("44", [20, 5, 5, 5, 5], 5),
        ("-1", [10] * 5, 1),
    ],
)
def test_starts_that_end_in_time_and_one_at_least(monkeypatch, deadline, seconds, made):
    """By a clock that advances by what each start takes."""
    now = 0.0
    monkeypatch.setattr(time, "monotonic", lambda: now)
    monkeypatch.setenv(DEADLINE_VARIABLE, deadline)
    numbers = []
    for start in until_deadline(len(seconds)):
        numbers.append(start)
        now += seconds[start]
    assert numbers == list(range(made))
