"""What is read before and after a measurement, to tell whether something disturbed it.

Nothing is read while something is timed, and no thread watches: a process that was stopped is told
so by SIGCONT when it goes on; of two clocks one stands still while the machine sleeps; a cgroup
counts for how long its quota held processes back.
"""

import signal
import threading
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import FrameType

from lab.machine.limits import allowed_cores, cgroup_folders, quota_cores, throttled_seconds
from lab.results.disturbances import (
    CLOCK_SET,
    CORES_CHANGED,
    LIMIT_PERCENT,
    QUOTA_CHANGED,
    SLEPT,
    STOPPED,
    THROTTLED,
    Disturbance,
    over_limit,
)

LEAST_S = 1.0  # by which clocks must differ
SLEWED = 1e-3  # of a duration; time servers urge a clock on, or hold it back, by half of that

_went_on: list[float] = []  # when this process did, after it was stopped


@dataclass(frozen=True)
class Reading:
    """What there is to read at one moment.

    Attributes:
        awake_s: monotonic seconds, but for those that the machine slept.
        since_boot_s: monotonic seconds, with those.
        clock_s: the system's clock, which people and time servers set.
        stops: how often this process was stopped and went on, at least: two while it waits are one.
        cores: that affinity allows this process.
        quota: that cgroups allow it, in cores.
        throttled_s: for how long quotas held processes back, summed over cores.
    """

    awake_s: float
    since_boot_s: float
    clock_s: float
    stops: int
    cores: int
    quota: float
    throttled_s: float


def read(cgroups: Sequence[Path] | None = None) -> Reading:
    """Read all, and count from now on how often this process is stopped.

    `cgroups` are the folders of this process's cgroup and of those above it.
    """
    _hear_stops()
    folders = cgroup_folders() if cgroups is None else cgroups
    since_boot = getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)  # macOS: the latter goes on
    return Reading(
        awake_s=time.monotonic(),
        since_boot_s=time.clock_gettime(since_boot),
        clock_s=time.time(),
        stops=len(_went_on),
        cores=len(allowed_cores()),
        quota=quota_cores(folders),
        throttled_s=throttled_seconds(folders),
    )


def between(before: Reading, after: Reading) -> list[Disturbance]:
    """What happened between two readings."""
    return list(_happened(before, after))


def _happened(before: Reading, after: Reading) -> Iterator[Disturbance]:
    awake = after.awake_s - before.awake_s
    passed = after.since_boot_s - before.since_boot_s
    jump = after.clock_s - before.clock_s - passed
    if after.stops > before.stops:
        yield Disturbance(STOPPED, f"≥ {after.stops - before.stops}×")
    if passed - awake > LEAST_S:
        yield Disturbance(SLEPT, f"{passed - awake:.0f} s")
    if abs(jump) > max(LEAST_S, SLEWED * passed):
        yield Disturbance(CLOCK_SET, f"{jump:+.0f} s")
    if after.cores != before.cores:
        yield Disturbance(CORES_CHANGED, f"{before.cores} → {after.cores}")
    if after.quota != before.quota:
        yield Disturbance(QUOTA_CHANGED, f"{before.quota:.3g} → {after.quota:.3g}")
    usable = max(1, int(min(before.cores, before.quota)))
    held_back = 100 * (after.throttled_s - before.throttled_s) / max(1e-9, awake * usable)
    if held_back > LIMIT_PERCENT:
        yield Disturbance(THROTTLED, over_limit(held_back))


def _hear_stops() -> None:
    if not hasattr(signal, "SIGCONT") or threading.current_thread() != threading.main_thread():
        return
    if signal.getsignal(signal.SIGCONT) is not _note_stop:
        signal.signal(signal.SIGCONT, _note_stop)
        signal.siginterrupt(signal.SIGCONT, False)  # calls that were waiting wait on


def _note_stop(number: int, frame: FrameType | None) -> None:
    _went_on.append(time.monotonic())
