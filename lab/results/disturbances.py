"""What keeps a stage's times from deciding anything: a busy machine, or what happened meanwhile.

A stage writes it into its metrics, claims and the page read it there. Counts, bytes and equal bits,
which are the same however fast a machine is, stand all the same.
"""

import math
import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

LIMIT_PERCENT = 20  # of a machine's time that went elsewhere: above, times decide nothing

BUSY_PERCENT = "busy_percent"  # metric: all cores' time that went to other processes
DISTURBED = "disturbed"  # metric, only where something happened: what, as `in_words` has it
NOT_MEASURABLE = "not_measurable"  # metric, only where it is so: what the machine lacks, such as
TWO_CORES = "needs 2 cores"
LARGER_SIZES = "needs larger sizes on this GPU"

# what can happen, each with how much of it
BUSY = "the machine was busy"
STOPPED = "the process was stopped"
SLEPT = "the machine slept"
CLOCK_SET = "the system's clock was set"
CORES_CHANGED = "the usable cores changed"
QUOTA_CHANGED = "the CPU quota changed"
THROTTLED = "the CPU quota held it back"
GPU_BUSY = "others computed on the GPU"


class Disturbance(NamedTuple):
    """Something that happened while times were taken, and how much of it."""

    what: str
    how_much: str

    def __str__(self) -> str:
        """Both as text, without a semicolon or further brackets."""
        return f"{self.what} ({self.how_much})"


def over_limit(percent: float) -> str:
    """How much of something there was, if it was over the limit."""
    return f"{percent:.3g} % > {LIMIT_PERCENT} %"


def in_words(found: Sequence[Disturbance]) -> str:
    """All of them as text, the first of each kind."""
    first: dict[str, Disturbance] = {}
    for each in found:
        first.setdefault(each.what, each)
    return "; ".join(map(str, first.values()))


def from_words(text: str) -> list[Disturbance]:
    """The disturbances in a text; the inverse of `in_words`."""
    return [Disturbance(*each) for each in re.findall(r"([^;()]+?) \(([^()]*)\)(?:; |$)", text)]


def disturbances_of(metrics: Mapping[str, Any]) -> list[Disturbance]:
    """Why the times of a stage decide nothing, by its metrics; where they do, nothing."""
    found = from_words(str(metrics.get(DISTURBED, "")))
    busy = metrics.get(BUSY_PERCENT)
    if isinstance(busy, int | float) and math.isfinite(busy) and busy > LIMIT_PERCENT:
        return [Disturbance(BUSY, over_limit(busy)), *found]
    return found
