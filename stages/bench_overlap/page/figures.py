"""Figures and tables of the page on copying while computing."""

from dataclasses import replace

from lab.report import plots
from lab.report.benchmarks import on_virtual_devices
from lab.report.language import say
from lab.report.numbers import duration, number, span
from lab.report.page import Figure
from lab.results.findings import Finding, Findings, Samples, median
from lab.results.measurements import Measurement, Results
from lab.results.stats import ANY
from stages.bench_overlap.findings import best_variant
from stages.bench_overlap.measure.names import ALONE, AS_THE_BOOK, CONCURRENT, PARTS, TWO_STREAMS

NOTHING = "–"  # in an empty cell


def values(results: Results, found: Findings) -> dict[str, object]:
    best = best_variant(results)
    return {
        "size": int(results.xs("times", best)[0]),
        "overlap_share": overlap_share(results, best),
        "images": int(results.xs("backward pass", "first gradient ready")[0]),
        "variants": variant_rows(results),
    }


def figures(results: Results, found: Findings) -> list[Figure]:
    virtual = on_virtual_devices(results.conditions)
    each = [results.series("gradient ready", n)[0] for n in results.variants("gradient ready")]
    ready = {m.variant: m.values for m in sorted(each, key=lambda m: m.summary.median)}
    drawn = results.variants("timeline")
    timelines = [
        Figure("overlap_timeline", [timeline(results, variant, virtual) for variant in drawn])
    ]
    return [
        *(timelines if drawn else []),
        Figure(
            "overlap_gradients",
            [plots.bars(ready, say("Time since the backward pass began (ms)"), virtual=virtual)],
        ),
    ]


def spans(results: Results, variant: str, activity: str) -> list[tuple[float, float]]:
    """Return the (begin, end) of each span of an activity in a run, in ms."""
    return [
        (m.x, m.x + duration)
        for m in results.series("timeline", variant, activity=activity)
        for duration in m.values
    ]


def overlap_share(results: Results, variant: str) -> float | None:
    """Return the share of a run's copying time that overlaps with multiplications.

    It is None if the profiler saw no copies: a GPU's driver may show them only to administrators.
    """
    products, copies = (spans(results, variant, activity) for activity in ("compute", "copy"))
    shared = sum(
        max(0.0, min(end, other_end) - max(start, other_start))
        for start, end in copies
        for other_start, other_end in products
    )
    return shared / sum(end - start for start, end in copies) if copies else None


def hundredths(fraction: Measurement) -> Finding:
    """Return an overlap rounded to two decimals; further ones mean nothing."""
    found = median(Samples(fraction.values), possible=ANY)
    return replace(found, value=round(found.value, 2))


def variant_rows(results: Results) -> list[dict[str, str]]:
    """Return each variant's cells: its time, and its overlap, marked if impossible."""
    timed = results.variants("times")
    order = [*(n for n in ALONE if n in timed), *(n for n in timed if n in PARTS)]
    if AS_THE_BOOK in results.variants("overlap"):
        order.append(AS_THE_BOOK)
    found = []
    for name in order:
        fraction, time = results.one("overlap", name), results.one("times", name)
        fraction_cells = {"overlap": NOTHING, "interval": NOTHING}
        if fraction:
            shown = hundredths(fraction)
            remark = say(", impossible") if shown.high < 0 or shown.low > 1 else ""
            fraction_cells = {"overlap": number(shown) + remark, "interval": span(shown)}
        time_cell = duration(time.summary.median / 1e3) if time else NOTHING
        found.append({"name": name, "time": time_cell, **fraction_cells})
    return found


def timeline(results: Results, variant: str, virtual: bool) -> plots.Draw:
    """Draw one run of a variant: when each thread or stream did what."""
    computing, copying = (
        [plots.Span(kind, *span) for span in spans(results, variant, activity)]
        for kind, activity in ((say("computing"), "compute"), (say("copying"), "copy"))
    )
    if variant == CONCURRENT:
        rows = {say("first thread"): computing, say("second thread"): copying}
    elif variant == TWO_STREAMS:
        rows = {say("first stream"): computing, say("second stream"): copying}
    else:
        rows = {say("one stream"): [*computing, *copying]}
    return plots.timeline(rows, say("Time since the run began (ms)"), virtual=virtual)
