"""Numbers on a line: a claim's interval and the range in which the claim holds."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from lab.results.findings import Finding
from lab.results.stats import Range

MARGIN = 0.15  # of the shown range, on each side
WIDE = 4  # ratio of the largest to the smallest number above which the scale is logarithmic


@dataclass(frozen=True)
class Scale:
    """Places on a line, in percent of its length.

    Attributes:
        holds: the ends of the range in which the claim holds.
        interval: the ends of the interval.
        value: the number.
        ends: the range's finite ends, by their places.
    """

    holds: tuple[float, float]
    interval: tuple[float, float]
    value: float
    ends: dict[float, float]


def scale_of(estimate: Finding, holds: Range) -> Scale:
    """Return places on a line that shows the whole interval and the range's finite ends."""
    ends = [end for end in dict.fromkeys((holds.low, holds.high)) if math.isfinite(end)]
    place = line_through([estimate.low, estimate.value, estimate.high, *ends])
    return Scale(
        (place(holds.low), place(holds.high)),
        (place(estimate.low), place(estimate.high)),
        place(estimate.value),
        {place(end): end for end in ends},
    )


def line_through(numbers: Sequence[float]) -> Callable[[float], float]:
    """Return a function from a number to its place, in percent, on a line that shows `numbers`."""
    logarithmic = min(numbers) > 0 and max(numbers) > WIDE * min(numbers)
    shown = [math.log(each) for each in numbers] if logarithmic else numbers
    low, high = min(shown), max(shown)
    margin = MARGIN * (high - low) or abs(low) / 2 or 1.0
    first, last = low - margin, high + margin

    def place(number: float) -> float:
        if math.isinf(number):
            return 0.0 if number < 0 else 100.0
        if logarithmic and number <= 0:
            return 0.0
        at = math.log(number) if logarithmic else number
        return round(100 * (at - first) / (last - first), 1)

    return place
