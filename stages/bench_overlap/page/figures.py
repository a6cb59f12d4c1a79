"""The figures of the page on copying while computing."""

from pathlib import Path

from lab.report import plots
from lab.report.language import say
from lab.report.page import Figure
from lab.results.documents import read_results
from lab.results.measurements import Results
from stages.bench_overlap.measure.names import BESIDE, TWO_STREAMS
from stages.bench_overlap.page.values import spans


def figures(folder: Path) -> list[Figure]:
    """The figures of `folder` (reports/bench_overlap)."""
    results = read_results(folder)
    virtual = results.conditions["device_kind"] == "cpu-virtual"
    each = [results.series("gradient ready", n)[0] for n in results.variants("gradient ready")]
    ready = {m.variant: m.values for m in sorted(each, key=lambda m: m.summary.median)}
    ways = results.variants("timeline")
    timelines = [Figure("overlap_timeline", [timeline(results, way, virtual) for way in ways])]
    return [
        *(timelines if ways else []),
        Figure(
            "overlap_gradients",
            [plots.bars(ready, say("Time since the backward pass began (ms)"), virtual=virtual)],
        ),
    ]


def timeline(results: Results, way: str, virtual: bool) -> plots.Draw:
    """One run of a way: what each thread or stream did when."""
    computing, copying = (
        [plots.Span(kind, *span) for span in spans(results, way, activity)]
        for kind, activity in ((say("computing"), "compute"), (say("copying"), "copy"))
    )
    if way == BESIDE:
        rows = {say("first thread"): computing, say("second thread"): copying}
    elif way == TWO_STREAMS:
        rows = {say("first stream"): computing, say("second stream"): copying}
    else:
        rows = {say("one stream"): [*computing, *copying]}
    return plots.timeline(rows, say("Time since the run began (ms)"), virtual=virtual)
