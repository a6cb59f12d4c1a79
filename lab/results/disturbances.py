"""What keeps a stage's times from deciding anything: a busy machine, or an interruption.

A stage writes it into its conditions; claims and the page read it there. Counts, bytes and equal
bits do not depend on the machine's speed and stand all the same.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from lab.results.reasons import BUSY, DISTURBED, DRIFTED, Reason, split

LIMIT_PERCENT = 20  # of a machine's time that went elsewhere: above, times decide nothing

MOST_DRIFT = 2  # times as fast at one end of a stage as at the other: above, they do neither
# a stage's own measure of the machine, before and after, among its conditions
PRODUCT_SPEEDS = ("product_gflops_before", "product_gflops_after")
COPY_SPEEDS = ("copy_gbs_before", "copy_gbs_after")
SPEEDS = {"GFLOP/s": PRODUCT_SPEEDS, "GB/s": COPY_SPEEDS}  # by unit
# conditions: the mean over all readings of a stage, also between its processes, and its error
MEAN_SPEED, SPEED_ERROR = "product_gflops_mean", "product_gflops_error"

BUSY_PERCENT = "busy_percent"  # condition: share of the cores' time that went to other processes
NOT_MEASURABLE = "not_measurable"  # condition, only where the machine lacks something: what


def over_limit(percent: float) -> str:
    return f"{percent:.3g} % > {LIMIT_PERCENT} %"


def disturbances_of(conditions: Mapping[str, Any]) -> list[Reason]:
    """Why a stage's times decide nothing, by its conditions; empty where they do."""
    found = split(str(conditions.get(DISTURBED, "")))
    busy = conditions.get(BUSY_PERCENT)
    if isinstance(busy, int | float) and math.isfinite(busy) and busy > LIMIT_PERCENT:
        found.insert(0, Reason(BUSY, over_limit(busy)))
    return [*found, *_drifts(conditions)]


def _drifts(conditions: Mapping[str, Any]) -> Iterator[Reason]:
    """That the machine was far faster at one end of a stage than at the other."""
    for unit, names in SPEEDS.items():
        speeds = readings(conditions, names)
        if len(speeds) == len(names) and max(speeds) > MOST_DRIFT * min(speeds):
            before, after = speeds
            yield Reason(DRIFTED, f"{before:.3g} → {after:.3g} {unit}")


def readings(conditions: Mapping[str, Any], names: Sequence[str]) -> list[float]:
    """The machine's speeds of these names, as far as they were measured."""
    found = map(conditions.get, names)
    return [float(value) for value in found if isinstance(value, int | float) and value > 0]
