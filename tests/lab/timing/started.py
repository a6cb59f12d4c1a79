"""The measurement that test_runner.py makes in fresh processes."""

import os

from lab.results.measurements import Measurement, skip
from lab.results.reasons import NEEDS_GPU, Reason
from lab.timing import snapshot


def measure(start: int, failing: int, disturbed: int) -> list[Measurement]:
    """Return three times, the process and a skip; process `failing` exits with code 4."""
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
