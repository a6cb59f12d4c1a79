"""The figures of the page on asynchronous computation."""

from pathlib import Path

from lab.report import plots
from lab.report.benchmarks import read
from lab.report.language import say
from lab.report.page import Figure
from lab.results.measurements import Results
from lab.results.stats import speedup
from stages.bench_async.page.values import FAIR, as_fast_as_numpy


def figures(folder: Path) -> list[Figure]:
    """The figures of `folder` (reports/bench_async)."""
    results, m = read(folder)
    virtual = m["device_kind"] == "cpu-virtual"
    as_fast = say("Speed relative to NumPy (×)")
    percent = say("Share of the time until the result is ready (%)")
    return [
        Figure("async_numpy", [plots.dots(timings(results), as_fast, virtual=virtual)]),
        Figure("async_returns", [plots.bars(shares(results), percent, virtual=virtual)]),
        Figure("async_run_ahead", [series(results, virtual)]),
    ]


def timings(results: Results) -> dict[str, object]:
    """torch against numpy, by each way to time the ten products."""
    ways = {
        say("as in the notes"): ("numpy, float64", "torch, not waited for"),
        say("synchronized"): ("numpy, float64", "torch, waited for"),
        say("the other GPU synchronized"): ("numpy, float64", "torch, another GPU waited for"),
        say("fair"): FAIR,
    }
    return {
        name: as_fast_as_numpy(results, *pair)
        for name, pair in ways.items()
        if results.one("book", pair[1])
    }


def shares(results: Results) -> dict[str, list[float]]:
    """When the call of a matrix multiplication returns, in percent of the time that it takes."""
    called, ready = (results.series("product", v) for v in ("call returns", "result there"))
    return {
        f"{call.x:.0f} × {call.x:.0f}": [100 * speedup(call.values, all_.values).median]
        for call, all_ in zip(called, ready, strict=True)
    }


def series(results: Results, virtual: bool) -> plots.Draw:
    """The time of a small operation in the longest series."""
    names = {
        "waiting once": say("synchronized once"),
        "waiting after each": say("synchronized after each"),
        "calls return": say("until the calls return"),
    }
    longest = {name: results.series("run_ahead", variant)[-1] for variant, name in names.items()}
    rows = {name: [us / m.x for us in m.values] for name, m in longest.items()}
    return plots.bars(rows, say("Time per operation (µs)"), virtual=virtual)
