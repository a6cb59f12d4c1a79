"""Disturbances that keep a stage's times from deciding anything: a busy machine, an interruption.

A stage writes them into its conditions, where claims and the page read them. Counts, bytes and
bitwise comparisons do not depend on the machine's speed and remain valid.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from lab.results.reasons import BUSY, DISTURBED, DRIFTED, Reason, split

LIMIT_PERCENT = 20  # share of the machine's time lost; times above this limit decide nothing

MOST_DRIFT = 2  # largest ratio of the speeds before and after a stage whose times still decide
# conditions: the machine's speeds that the stage itself measured, before and after
PRODUCT_SPEEDS = ("product_gflops_before", "product_gflops_after")
COPY_SPEEDS = ("copy_gbs_before", "copy_gbs_after")
SPEEDS = {"GFLOP/s": PRODUCT_SPEEDS, "GB/s": COPY_SPEEDS}  # by unit
# conditions: mean of all readings of a stage, including between its processes, and standard error
MEAN_SPEED, SPEED_ERROR = "product_gflops_mean", "product_gflops_error"

BUSY_PERCENT = "busy_percent"  # condition: share of the cores' time that went to other processes
NOT_MEASURABLE = "not_measurable"  # condition: what the machine lacks; absent if nothing


def over_limit(percent: float) -> str:
    return f"{percent:.3g} % > {LIMIT_PERCENT} %"


def disturbances_of(conditions: Mapping[str, Any]) -> list[Reason]:
    """Return the reasons why a stage's times decide nothing; empty if they decide."""
    found = split(str(conditions.get(DISTURBED, "")))
    busy = conditions.get(BUSY_PERCENT)
    if isinstance(busy, int | float) and math.isfinite(busy) and busy > LIMIT_PERCENT:
        found.insert(0, Reason(BUSY, over_limit(busy)))
    return [*found, *_drifts(conditions)]


def _drifts(conditions: Mapping[str, Any]) -> Iterator[Reason]:
    """Yield a reason for each speed of the machine that drifted during the stage."""
    for unit, names in SPEEDS.items():
        speeds = readings(conditions, names)
        if len(speeds) == len(names) and max(speeds) > MOST_DRIFT * min(speeds):
            before, after = speeds
            yield Reason(DRIFTED, f"{before:.3g} → {after:.3g} {unit}")


def readings(conditions: Mapping[str, Any], names: Sequence[str]) -> list[float]:
    """Return the machine's speeds with these names, as far as they were measured."""
    found = map(conditions.get, names)
    return [float(value) for value in found if isinstance(value, int | float) and value > 0]
