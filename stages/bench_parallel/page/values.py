"""What the page on two devices names beside findings."""

from collections.abc import Mapping
from typing import Any

from lab.results.findings import Finding
from lab.results.measurements import Results
from stages.bench_parallel.findings import sizes, speedup

VERDICTS = ("faster", "slower", "inconclusive")
OUTCOMES = {
    "kind": ("cpu-virtual", "cuda", "cuda-shared"),
    "verdict": VERDICTS,
    "second_thread": (True, False),
    "chains_verdict": VERDICTS,
    "warm_up_verdict": VERDICTS,
}


def values(results: Results, found: Mapping[str, Finding]) -> dict[str, object]:
    kind = results.conditions["device_kind"]
    return {
        "kind": kind,
        "verdict": found["speedup"].verdict,
        "size": int(sizes(results)[-1]),
        # whether a run takes longer in a second thread than in the main one, where all are alone
        "second_thread": kind == "cpu-virtual" and found["one_thread_speedup"].verdict == "faster",
        "chains_verdict": found["chains"].verdict,
        "warm_up_verdict": found["first_run"].verdict,
        "sizes": by_size(results),
        "starts": results.conditions["starts"],
    }


def by_size(results: Results) -> list[dict[str, Any]]:
    """The times of both ways, and their ratio, by the size of the matrices."""
    in_turn, both = (results.series("products", w) for w in ("sequentially", "concurrently"))
    return [
        {
            "rows": int(new.x),
            "sequential_s": old.summary.median / 1e3,
            "concurrent_s": new.summary.median / 1e3,
            "speedup": speedup(results, new.x),
        }
        for old, new in zip(in_turn, both, strict=True)
    ]
