"""Clocks and quota counters before and after a measurement, to detect disturbances.

Nothing is read while something is timed. One of two monotonic clocks stops while the machine
sleeps, and a cgroup counts how long its quota throttled processes.
"""

import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from lab.machine.limits import allowed_cores, cgroup_folders, quota_cores, throttled_seconds
from lab.results.disturbances import LIMIT_PERCENT, over_limit
from lab.results.reasons import SLEPT, THROTTLED, Reason

SHORTEST_SLEEP_S = 1.0


@dataclass(frozen=True)
class Snapshot:
    """The clocks and counters at one moment.

    Attributes:
        awake_s: monotonic clock that stops while the machine sleeps.
        since_boot_s: monotonic clock that does not stop.
        throttled_s: how long quotas throttled processes, summed over cores.
        cores: cores that affinity and quota allow this process, possibly below 1.
    """

    awake_s: float
    since_boot_s: float
    throttled_s: float
    cores: float


def read(cgroups: Sequence[Path] | None = None) -> Snapshot:
    """Take a snapshot; `cgroups` are the folders of this process's cgroup and its parents."""
    folders = cgroup_folders() if cgroups is None else cgroups
    return Snapshot(
        awake_s=time.monotonic(),
        since_boot_s=_since_boot_s(),
        throttled_s=throttled_seconds(folders),
        cores=min(len(allowed_cores()), quota_cores(folders)),
    )


def _since_boot_s() -> float:
    """Return the seconds since the machine started, including sleep."""
    # Linux stops CLOCK_MONOTONIC during sleep, macOS does not; Windows has neither of the two
    for clock in ("CLOCK_BOOTTIME", "CLOCK_MONOTONIC"):
        if hasattr(time, clock):
            return time.clock_gettime(getattr(time, clock))
    return time.monotonic()


def between(before: Snapshot, after: Snapshot) -> list[Reason]:
    """Return the disturbances between two snapshots."""
    found = []
    awake = after.awake_s - before.awake_s
    slept = after.since_boot_s - before.since_boot_s - awake
    if slept > SHORTEST_SLEEP_S:
        found.append(Reason(SLEPT, f"{slept:.0f} s"))
    cores = max(1, int(before.cores))
    throttled_percent = 100 * (after.throttled_s - before.throttled_s) / max(1e-9, awake * cores)
    if throttled_percent > LIMIT_PERCENT:
        found.append(Reason(THROTTLED, over_limit(throttled_percent)))
    return found
