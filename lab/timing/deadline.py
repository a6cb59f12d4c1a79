"""What `invoke record` asks of the stages that it runs: to end in time, and to leave traces."""

import logging
import os
import time
from collections.abc import Iterator
from pathlib import Path

from lab.results.stats import FEWEST

# readings of the monotonic clock, which is one for all processes; without them there is no end
DEADLINE_VARIABLE = "LAB_DEADLINE"
LATEST_VARIABLE = "LAB_LATEST"  # for a stage that has too few starts to decide anything
TRACES_VARIABLE = "LAB_TRACES"  # a folder; without it there are no traces

log = logging.getLogger(__name__)


def until_deadline(starts: int) -> Iterator[int]:
    """The numbers of the starts that there is time for, from 0: one at least, `starts` at most.

    A start is measured before the next number is asked for; the next is expected to take as long.
    So a stage that is cut ends in good order, with the starts that it has. Those that decide
    nothing without one more are made until the later of the two ends.
    """
    taken_s = 0.0
    for start in range(starts):
        began = time.monotonic()
        left_s = time_left_s(DEADLINE_VARIABLE if start >= FEWEST else LATEST_VARIABLE)
        if start and taken_s > left_s:
            log.warning("%d of %d starts: there is no time for more", start, starts)
            return
        yield start
        taken_s = time.monotonic() - began


def time_left_s(end: str = DEADLINE_VARIABLE) -> float:
    """Seconds until nothing more is to begin; infinitely many if nobody asks for an end."""
    return float(os.environ.get(end, "inf")) - time.monotonic()


def traces_folder() -> Path | None:
    """Where profiler traces are to lie, as NAME.json; None if nobody asks for them."""
    folder = os.environ.get(TRACES_VARIABLE)
    return Path(folder) if folder else None
