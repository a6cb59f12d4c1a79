"""What keeps a stage's times from deciding anything: a busy machine, or an interruption.

A stage writes it into its metrics; claims and the page read it there. Counts, bytes and equal bits
do not depend on the machine's speed and stand all the same.
"""

import math
import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

LIMIT_PERCENT = 20  # of a machine's time that went elsewhere: above, times decide nothing

BUSY_PERCENT = "busy_percent"  # metric: share of the cores' time that went to other processes
DISTURBED = "disturbed"  # metric, only where something happened: the text of `in_words`
NOT_MEASURABLE = "not_measurable"  # metric, only where the machine lacks something, such as
TWO_CORES = "needs 2 cores"
LARGER_SIZES = "needs larger sizes on this GPU"

# kinds of disturbances
BUSY = "the machine was busy"
SLEPT = "the machine slept"
THROTTLED = "the CPU quota held it back"
GPU_BUSY = "others computed on the GPU"


class Disturbance(NamedTuple):
    """Something that happened while times were taken, and how much of it."""

    what: str
    how_much: str

    def __str__(self) -> str:
        return f"{self.what} ({self.how_much})"


def over_limit(percent: float) -> str:
    return f"{percent:.3g} % > {LIMIT_PERCENT} %"


def in_words(found: Sequence[Disturbance]) -> str:
    """All disturbances as one text, the first of each kind."""
    first: dict[str, Disturbance] = {}
    for each in found:
        first.setdefault(each.what, each)
    return "; ".join(map(str, first.values()))


def from_words(text: str) -> list[Disturbance]:
    """The disturbances in a text, of whatever kind; the inverse of `in_words`."""
    return [Disturbance(*each) for each in re.findall(r"([^;()]+?) \(([^()]*)\)(?:; |$)", text)]


def disturbances_of(metrics: Mapping[str, Any]) -> list[Disturbance]:
    """Why a stage's times decide nothing, by its metrics; empty where they do."""
    found = from_words(str(metrics.get(DISTURBED, "")))
    busy = metrics.get(BUSY_PERCENT)
    if isinstance(busy, int | float) and math.isfinite(busy) and busy > LIMIT_PERCENT:
        return [Disturbance(BUSY, over_limit(busy)), *found]
    return found
