"""Requests of `invoke record` to the stages that it runs: end in time, and write traces."""

import logging
import os
import time
from collections.abc import Iterator
from pathlib import Path

from lab.results.stats import FEWEST

# readings of the monotonic clock, which all processes share; no deadline if they are not set
DEADLINE_VARIABLE = "LAB_DEADLINE"
LATEST_VARIABLE = "LAB_LATEST"  # for a stage with too few starts to decide anything
TRACES_VARIABLE = "LAB_TRACES"  # a folder; no traces if it is not set

log = logging.getLogger(__name__)


def until_deadline(starts: int) -> Iterator[int]:
    """Yield the numbers of the starts that there is time for, from 0: between 1 and `starts`.

    The caller measures a start before it takes the next number. The next start is expected to take
    as long as the last one. So a stage that runs out of time ends in order, with the starts that it
    has. While there are too few starts to decide anything, the later deadline applies.
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
    """Return the seconds until the deadline; infinity if there is none."""
    return float(os.environ.get(end, "inf")) - time.monotonic()


def traces_folder() -> Path | None:
    """Return the folder for profiler traces (NAME.json); None if no traces are requested."""
    folder = os.environ.get(TRACES_VARIABLE)
    return Path(folder) if folder else None
