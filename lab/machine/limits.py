"""What limits the cores of this process: its affinity, and its cgroups' quotas."""

import contextlib
import os
from collections.abc import Sequence
from pathlib import Path

import psutil

NO_QUOTA = float("inf")


def allowed_cores() -> list[int]:
    """The numbers of the cores that this process's affinity allows."""
    if hasattr(psutil.Process, "cpu_affinity"):
        return list(psutil.Process().cpu_affinity())
    return list(range(os.cpu_count() or 1))


def usable_cores() -> int:
    """The cores that affinity, cgroup quota and OMP_NUM_THREADS leave this process, at least 1."""
    return max(1, int(min(len(allowed_cores()), quota_cores(), _omp_threads())))


def _omp_threads() -> float:
    """The threads that OMP_NUM_THREADS allows (of nested levels, the first), or infinity."""
    first = os.environ.get("OMP_NUM_THREADS", "").split(",")[0].strip()
    return int(first) if first.isdecimal() and int(first) > 0 else float("inf")


def quota_cores(cgroups: Sequence[Path] | None = None) -> float:
    """The CPU quota of this process in cores, possibly below 1, or infinity.

    The least of its cgroup (version 2) and of those above it, `cgroups`.
    """
    return min(map(_quota_of, cgroup_folders() if cgroups is None else cgroups), default=NO_QUOTA)


def _quota_of(cgroup: Path) -> float:
    try:
        quota, period = (cgroup / "cpu.max").read_text(encoding="ascii").split()
        return NO_QUOTA if quota == "max" else int(quota) / int(period)
    except (OSError, ValueError, ZeroDivisionError):
        return NO_QUOTA


def cgroup_folders(
    root: Path = Path("/sys/fs/cgroup"), own: Path = Path("/proc/self/cgroup")
) -> list[Path]:
    """The folders of this process's cgroup (version 2) and of all above it, up to `root`.

    In a container `root` is the container's own, and the path in `own` may be none below it.
    """
    try:
        lines = own.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:  # no Linux
        return []
    path = next((line.removeprefix("0::/") for line in lines if line.startswith("0::/")), "")
    folder = root / path
    return [each for each in (folder, *folder.parents) if each.is_relative_to(root)]


def throttled_seconds(cgroups: Sequence[Path]) -> float:
    """For how long quotas held the processes of cgroups back, summed over cores."""
    total = 0.0
    for cgroup in cgroups:
        with contextlib.suppress(OSError, ValueError):
            lines = (cgroup / "cpu.stat").read_text(encoding="ascii").splitlines()
            counts = dict(line.split() for line in lines)
            total += int(counts.get("throttled_usec", 0)) / 1e6
    return total
