"""What the page on asynchronous computation names beside findings."""

from collections.abc import Mapping

from lab.results.findings import Finding
from lab.results.measurements import Results

RETURNS_BEFORE = 0.9  # of the time until the result is there: less is before its work is done
CALLS = ("on a CPU", "queued", "undecided")  # when they return, or what decides that
OUTCOMES = {"calls": CALLS, "fair_verdict": ("inconclusive", "faster", "slower")}


def values(results: Results, found: Mapping[str, Finding]) -> dict[str, object]:
    return {
        "calls": calls(found["return_over_finish"], results.conditions["device_kind"]),
        "fair_verdict": found["fair_speedup"].verdict,
        "size": int(results.xs("book", "torch, products alone")[0]),
        "waiting_s": found["waiting_after_each_s"].value - found["waiting_once_s"].value,
        "starts": results.conditions["starts"],
        "noisy_percent": results.conditions["noisy_percent"],
    }


def calls(share: Finding, device_kind: str) -> str:
    """Whether calls only queue work, by the share of its time after which they return."""
    on_cpu, queued, undecided = CALLS
    if device_kind == "cpu-virtual":
        return on_cpu
    return queued if share.high < RETURNS_BEFORE else undecided
