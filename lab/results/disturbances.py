"""What keeps a stage's times from deciding anything: a busy machine, or an interruption.

A stage writes it into its conditions; claims and the page read it there. Counts, bytes and equal
bits do not depend on the machine's speed and stand all the same.
"""

import math
from collections.abc import Mapping
from typing import Any

from lab.results.reasons import BUSY, DISTURBED, Reason, split

LIMIT_PERCENT = 20  # of a machine's time that went elsewhere: above, times decide nothing

BUSY_PERCENT = "busy_percent"  # condition: share of the cores' time that went to other processes
NOT_MEASURABLE = "not_measurable"  # condition, only where the machine lacks something: what


def over_limit(percent: float) -> str:
    return f"{percent:.3g} % > {LIMIT_PERCENT} %"


def disturbances_of(conditions: Mapping[str, Any]) -> list[Reason]:
    """Why a stage's times decide nothing, by its conditions; empty where they do."""
    found = split(str(conditions.get(DISTURBED, "")))
    busy = conditions.get(BUSY_PERCENT)
    if isinstance(busy, int | float) and math.isfinite(busy) and busy > LIMIT_PERCENT:
        return [Reason(BUSY, over_limit(busy)), *found]
    return found
