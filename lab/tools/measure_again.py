"""Say which stages of a run to measure again, since the machine was slower or disturbed then.

A shared machine's speed flickers from second to second, by a tenth or more. So a stage counts as
slower only if its readings say so beyond their own error. Copies do not count: the bandwidth that
neighbours leave changes twofold while matrix multiplications stay as fast.
"""

import contextlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from statistics import median
from typing import Any

from lab.core.errors import LabError
from lab.core.files import CONDITIONS, REPORTS
from lab.results.disturbances import MEAN_SPEED, SPEED_ERROR, disturbances_of
from lab.results.documents import read_conditions

SLOWER_PERCENT = 10  # than in the median stage: above, a stage is worth measuring again

Conditions = Mapping[str, Any]


def timed(reports: Path = REPORTS) -> dict[str, Conditions]:
    """The conditions of each stage on disk that times something, by its name in DVC."""
    found: dict[str, Conditions] = {}
    for path in [*reports.glob(f"*/{CONDITIONS}"), *reports.glob(f"train/*/{CONDITIONS}")]:
        with contextlib.suppress(LabError):  # a damaged one, which its page mentions
            if MEAN_SPEED in (conditions := read_conditions(path.parent)):
                found["@".join(path.parent.relative_to(reports).parts)] = conditions
    return found


def advice(before: Mapping[str, Conditions], after: Mapping[str, Conditions]) -> str:
    """What a run says at its end, by the conditions before and after it; empty if all is well.

    Only the stages that it measured count: the conditions of the others are as they were.
    """
    measured = {stage: each for stage, each in after.items() if each != before.get(stage)}
    if not (found := reasons(measured)):
        return ""
    stages = ", ".join(f"{stage} ({why})" for stage, why in found.items())
    commands = " && ".join(f"invoke remeasure --stage {stage}" for stage in found)
    return f"# the machine was slower or disturbed during {stages}; measure again: {commands}"


def reasons(measured: Mapping[str, Conditions]) -> dict[str, str]:
    """Why stages of one run should be measured again, by their names."""
    usual = median(each[MEAN_SPEED] for each in measured.values()) if measured else 0.0
    found = {stage: "; ".join(_reasons(each, usual)) for stage, each in sorted(measured.items())}
    return {stage: why for stage, why in found.items() if why}


def _reasons(conditions: Conditions, usual: float) -> Iterator[str]:
    speed = conditions[MEAN_SPEED]
    if speed + conditions[SPEED_ERROR] < (1 - SLOWER_PERCENT / 100) * usual:
        yield f"{100 * (1 - speed / usual):.0f} % slower"
    yield from map(str, disturbances_of(conditions))
