"""Figures and tables of the page on two devices."""

from typing import Any

from lab.report import plots
from lab.report.benchmarks import on_virtual_devices
from lab.report.language import say, translation
from lab.report.page import Figure
from lab.results.findings import Findings
from lab.results.measurements import Results
from stages.bench_parallel.findings import sizes, speedup

DEVICES = {  # in words, by their kind
    "cpu-virtual": "two CPU shares with a thread each",
    "cuda": "two GPUs",
    "cuda-shared": "two streams of one GPU",
}


def values(results: Results, found: Findings) -> dict[str, object]:
    return {
        "devices": DEVICES[results.conditions["device_kind"]],
        "size": int(sizes(results)[-1]),
        "sizes": by_size(results),
    }


def figures(results: Results, found: Findings) -> list[Figure]:
    def times(experiment: str) -> plots.Draw:
        rows = {
            translation(variant): results.series(experiment, variant)[-1].values
            for variant in results.variants(experiment)
        }
        virtual = on_virtual_devices(results.conditions)
        return plots.bars(rows, say("Time (ms)"), virtual=virtual)

    return [
        Figure("parallel", [times("products")]),
        Figure("parallel_chains", [times("dependencies")]),
    ]


def by_size(results: Results) -> list[dict[str, Any]]:
    """Return sequential and concurrent times and their ratio, by the size of the matrices."""
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
