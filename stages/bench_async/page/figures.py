"""Figures and tables of the page on asynchronous computation."""

from lab.report import plots
from lab.report.benchmarks import on_virtual_devices
from lab.report.language import say
from lab.report.page import Figure
from lab.results.findings import Findings, ratio
from lab.results.measurements import Results


def values(results: Results, found: Findings) -> dict[str, object]:
    return {"size": int(results.xs("book", "torch, products alone")[0])}


def figures(results: Results, found: Findings) -> list[Figure]:
    virtual = on_virtual_devices(results.conditions)
    as_fast = say("Speed relative to NumPy (×)")
    percent = say("Share of the time until the result is ready (%)")
    return [
        Figure("async_numpy", [plots.dots(timings(found), as_fast, virtual=virtual)]),
        Figure("async_returns", [plots.bars(shares(results), percent, virtual=virtual)]),
        Figure("async_run_ahead", [series(results, virtual)]),
    ]


def timings(found: Findings) -> Findings:
    """Return torch's speed relative to NumPy, by the way of timing the ten products."""
    ways = {
        say("as in the notes"): "book_claims",
        say("synchronized"): "waited_speedup",
        say("the other GPU synchronized"): "other_gpu_speedup",
        say("fair"): "fair_speedup",
    }
    return {way: found[name] for way, name in ways.items() if found[name]}


def shares(results: Results) -> dict[str, list[float]]:
    """Return when a multiplication's call returns, in percent of the time until its result."""
    found = {}
    for n in results.xs("product", "call returns"):
        called, ready = (
            results.samples("product", variant, n) for variant in ("call returns", "result there")
        )
        found[f"{n:.0f} × {n:.0f}"] = [100 * ratio(called, ready).value]
    return found


def series(results: Results, virtual: bool) -> plots.Draw:
    """Draw the time per small operation in the longest series."""
    names = {
        "waiting once": say("synchronized once"),
        "waiting after each": say("synchronized after each"),
        "calls return": say("until the calls return"),
    }
    longest = {name: results.series("run_ahead", variant)[-1] for variant, name in names.items()}
    rows = {name: [us / m.x for us in m.values] for name, m in longest.items()}
    return plots.bars(rows, say("Time per operation (µs)"), virtual=virtual)
