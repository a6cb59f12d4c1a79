"""Limits of this process: its affinity, and the quotas and memory of its cgroups."""

import contextlib
import os
from collections.abc import Sequence
from pathlib import Path

import psutil

from lab.core.errors import SpaceError

NO_QUOTA = float("inf")


def allowed_cores() -> list[int]:
    """Return the numbers of the cores that this process's affinity allows."""
    if hasattr(psutil.Process, "cpu_affinity"):
        return list(psutil.Process().cpu_affinity())
    return list(range(os.cpu_count() or 1))


def usable_cores() -> int:
    """Return how many cores affinity, cgroup quota and OMP_NUM_THREADS allow, at least 1."""
    return max(1, int(min(len(allowed_cores()), quota_cores(), _omp_threads())))


def _omp_threads() -> float:
    """Return the threads that OMP_NUM_THREADS allows (its first nesting level), or infinity."""
    first = os.environ.get("OMP_NUM_THREADS", "").split(",")[0].strip()
    return int(first) if first.isdecimal() and int(first) > 0 else float("inf")


def quota_cores(cgroups: Sequence[Path] | None = None) -> float:
    """Return the CPU quota of this process in cores, possibly below 1, or infinity.

    It is the smallest quota among `cgroups`: its own cgroups and their parents.
    """
    return min(map(_quota_of, cgroup_folders() if cgroups is None else cgroups), default=NO_QUOTA)


def _quota_of(cgroup: Path) -> float:
    for names in (("cpu.max",), ("cpu.cfs_quota_us", "cpu.cfs_period_us")):  # version 2 and 1
        with contextlib.suppress(OSError, ValueError, ZeroDivisionError):
            words = [(cgroup / name).read_text(encoding="ascii") for name in names]
            quota, period = " ".join(words).split()
            return NO_QUOTA if quota in ("max", "-1") else int(quota) / int(period)
    return NO_QUOTA


def memory_bytes(cgroups: Sequence[Path] | None = None) -> int:
    """Return the bytes of memory that the machine and this process's cgroups allow."""
    limits = [psutil.virtual_memory().total]
    for cgroup in cgroup_folders("memory") if cgroups is None else cgroups:
        for name in ("memory.max", "memory.limit_in_bytes"):  # version 2 and 1
            with contextlib.suppress(OSError, ValueError):  # none, or the word `max`
                limits.append(int((cgroup / name).read_text(encoding="ascii")))
    return min(limits)


def killed(name: str) -> SpaceError:
    """Return the error for a process that SIGKILL ended, which cannot report it itself."""
    return SpaceError(
        f"{name} was killed (signal 9), as the system does where memory is short"
        f" ({memory_bytes() / 2**30:.3g} GiB in all); use a smaller batch or profile"
    )


def cgroup_folders(
    controller: str = "cpu",
    root: Path = Path("/sys/fs/cgroup"),
    own: Path = Path("/proc/self/cgroup"),
) -> list[Path]:
    """Return the folders of this process's cgroups and their parents, up to the mount points.

    Version 2 has one tree, at `root`. Version 1 has one tree per controller, or per several, as
    `own` shows in lines such as `4:cpu,cpuacct:/path`. Only the tree of `controller` counts; its
    folder has that name, or the names of all its controllers. In a container, the mounted tree is
    the container's own, and the path in `own` may not exist in it.
    """
    try:
        lines = own.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:  # no Linux
        return []
    found = []
    for line in lines:
        _, controllers, path = line.split(":", 2)
        if controllers and controller not in controllers.split(","):
            continue
        names = (controller, controllers) if controllers else (".",)
        top = next((root / name for name in names if (root / name).is_dir()), root)
        folder = top / path.lstrip("/")
        found += [each for each in (folder, *folder.parents) if each.is_relative_to(top)]
    return found


def throttled_seconds(cgroups: Sequence[Path]) -> float:
    """Return the seconds for which quotas throttled the cgroups' processes, summed over cores."""
    total = 0.0
    for cgroup in cgroups:
        with contextlib.suppress(OSError, ValueError):
            lines = (cgroup / "cpu.stat").read_text(encoding="ascii").splitlines()
            counts = {name: int(count) for name, count in map(str.split, lines)}
            # version 2 counts microseconds, version 1 nanoseconds
            total += counts.get("throttled_usec", 0) / 1e6 + counts.get("throttled_time", 0) / 1e9
    return total
