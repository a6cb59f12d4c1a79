"""The figures of the page on loading."""

from itertools import accumulate
from pathlib import Path

from lab.report import plots
from lab.report.language import say, translation
from lab.report.page import Figure
from lab.results.documents import read_results
from lab.results.measurements import Results
from stages.bench_input.findings import epochs
from stages.bench_input.measure.names import FEEDS
from stages.bench_input.page.values import step


def figures(folder: Path) -> list[Figure]:
    """The figures of `folder` (reports/bench_input)."""
    results = read_results(folder)
    virtual = results.conditions["device_kind"] == "cpu-virtual"
    rows = {translation(feed): parts(results, feed) for feed in FEEDS["lenet"]}
    seconds = {
        translation(feed): epochs(results, feed).values for feed in results.variants("images")
    }
    return [
        Figure("step_parts", [plots.timeline(rows, say("Time of a step (ms)"), virtual=virtual)]),
        Figure("input_epochs", [plots.bars(seconds, say("Time of an epoch (s)"), virtual=virtual)]),
    ]


def parts(results: Results, feed: str) -> list[plots.Span]:
    """LeNet's step, part after part."""
    kinds = {
        say("load"): ("load",),
        say("forward"): ("forward",),
        say("backward"): ("backward",),
        say("transfer, all-reduce, update"): ("transfer", "all-reduce", "update"),
    }
    ms = [
        sum(step(results, feed, "lenet", part).summary.median for part in of_kind)
        for of_kind in kinds.values()
    ]
    ends = list(accumulate(ms, initial=0.0))
    return [plots.Span(*each) for each in zip(kinds, ends, ends[1:], strict=False)]
