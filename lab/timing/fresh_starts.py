"""A program measured in several starts: one start, one value.

One and the same program can be a quarter faster or slower from one start to the next, by how its
memory happens to lie, which no repetition within a process shows. So a benchmark measures in fresh
processes, one after the other; the median of what a process measured is one sample, and an interval
over these covers what differs from start to start.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import groupby
from typing import Any, Protocol

from tqdm import tqdm

from lab.core.errors import LabError
from lab.machine.fresh_process import answer_of
from lab.machine.gpus.errors import gpu_errors
from lab.results.disturbances import in_words
from lab.results.measurements import DISTURBED, Measurement, disturbances
from lab.results.stats import summarise
from lab.timing import readings
from lab.timing.visits import starts_in_time


class Start(Protocol):
    """A module whose `measure(start, ...)` measures everything once, in a process of its own."""

    __name__: str

    @property
    def measure(self) -> Callable[..., Sequence[Measurement]]:
        """What start number `start`, from 0, measured; told more by whoever knows more."""


def measure_in_starts(module: Start, starts: int, *told: Any) -> list[Measurement]:
    """What `module.measure` finds in `starts` fresh processes: each sample is one's median.

    Behind its number each is `told` the same, which can be pickled. There are fewer samples if
    there is a deadline.

    Raises:
        LabError: a process failed, or measured other things than the first.
    """
    in_time = tqdm(starts_in_time(starts), module.__name__, total=starts, leave=False, disable=None)
    found = [
        answer_of(f"{module.__name__}, start {start},", _measure, module.measure, start, *told)
        for start in in_time
    ]
    return merge(found)


def _measure(
    measure: Callable[..., Sequence[Measurement]], start: int, *told: Any
) -> list[Measurement]:
    """What start number `start` measured, remarked on if something disturbed this process."""
    before = readings.read()
    with gpu_errors():
        found = list(measure(start, *told))
    happened = in_words(readings.between(before, readings.read()))
    if not happened:
        return found
    return [replace(m, remark=m.remark or f"{DISTURBED}{happened}") for m in found]


def merge(starts: Sequence[Sequence[Measurement]]) -> list[Measurement]:
    """The measurements of all starts, one sample for each start: the median of its samples.

    What was skipped in any of them is skipped.

    Raises:
        LabError: the starts did not measure the same things.
    """
    keys = [[(m.experiment, m.variant, m.x) for m in start] for start in starts]
    if any(sorted(each) != sorted(keys[0]) for each in keys):
        raise LabError("two starts of a benchmark measured different things; measure it again")
    by_key = sorted((m for start in starts for m in start), key=_key)  # stable: starts in order
    merged = {key: _over_starts(list(same)) for key, same in groupby(by_key, _key)}
    return [merged[key] for key in keys[0]]


def _key(m: Measurement) -> tuple[str, str, float]:
    return m.experiment, m.variant, m.x


def _over_starts(same: Sequence[Measurement]) -> Measurement:
    without = [m for m in same if not m.values]
    if without:
        return without[0]
    happened = in_words(disturbances(same))
    return replace(
        same[0],
        values=tuple(summarise(m.values).median for m in same),
        remark=f"{DISTURBED}{happened}" if happened else same[0].remark,
    )
