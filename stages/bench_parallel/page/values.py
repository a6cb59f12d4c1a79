"""What the page on two devices names beside findings."""

from collections.abc import Mapping
from typing import Any

from lab.results.findings import Finding
from lab.results.measurements import Results
from stages.bench_parallel.findings import sizes, speedup

DEVICES = {  # in words, by their kind
    "cpu-virtual": "two CPU shares with a thread each",
    "cuda": "two GPUs",
    "cuda-shared": "two streams of one GPU",
}


def values(results: Results, found: Mapping[str, Finding]) -> dict[str, object]:
    return {
        "devices": DEVICES[results.conditions["device_kind"]],
        "size": int(sizes(results)[-1]),
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
