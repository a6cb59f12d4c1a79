"""What test_runner.py measures in processes of their own."""

import os

from lab.results.measurements import Measurement, skip
from lab.results.reasons import NEEDS_GPU, Reason
from lab.timing import snapshot


def measure(start: int, failing: int, disturbed: int) -> list[Measurement]:
    """Three times, the process, and what is skipped; start `failing` ends with code 4."""
    print("a library's own words")
    if start == failing:
        raise SystemExit(4)
    if start == disturbed:
        snapshot.throttled_seconds = lambda cgroups: 1e6
    times = (3.0 + start, 1.0 + start, 2.0 + start)
    return [
        Measurement("demo", "arm", 1, times, "ms", "cpu-virtual", 1),
        Measurement("demo", "process", 1, (float(os.getpid()),), "", "cpu-virtual", 1),
        skip("demo", "GPU", Reason(NEEDS_GPU), "cpu-virtual"),
    ]
