"""The figures of the page on buckets."""

from itertools import accumulate, pairwise
from pathlib import Path

from lab.report import plots
from lab.report.benchmarks import TITLES
from lab.report.language import say
from lab.report.page import Figure
from lab.results.documents import read_results
from lab.results.measurements import Results
from stages.bench_buckets.findings import NET
from stages.bench_buckets.measure.names import AT_ONCE


def figures(folder: Path) -> list[Figure]:
    """The figures of `folder` (reports/bench_buckets)."""
    results = read_results(folder)
    virtual = results.conditions["device_kind"] == "cpu-virtual"
    ready = plots.lines(
        [line(results, net, style) for net, style in zip(TITLES, ("-", "--"), strict=True)],
        say("Time since the backward pass began (%)"),
        say("Gradient bytes ready (%)"),
        height=3.8,  # room for both names
        virtual=virtual,
    )
    left = plots.bars(not_overlapped(results), say("Not overlapped (ms per step)"), virtual=virtual)
    return [Figure("buckets_ready", [ready]), Figure("buckets_exposed", [left])]


def line(results: Results, net: str, style: str) -> plots.Line:
    """The share of a net's gradients that are ready, in steps."""
    found = sorted(
        (m.summary.median, m.x)
        for name in results.variants("gradient ready", net=net)
        for m in results.series("gradient ready", name, net=net)
    )
    x = [100 * at / found[-1][0] for at, _ in found for _ in range(2)]
    so_far = [0.0, *accumulate(num_bytes for _, num_bytes in found)]
    y = [100 * sum_ / so_far[-1] for pair in pairwise(so_far) for sum_ in pair]
    return plots.Line(TITLES[net], [0, *x], [0, *y], style=style)


def not_overlapped(results: Results) -> dict[str, list[float]]:
    """What is left of ResNet-18's all-reduce when the pass has ended, of each size of buckets."""
    found = {}
    for m in results.series("exposed", AT_ONCE, net=NET):
        model = results.samples("predicted exposed", AT_ONCE, m.x, net=NET)
        found[say("{mib:g} MiB, measured", mib=m.x)] = list(m.values)
        found[say("{mib:g} MiB, model", mib=m.x)] = list(model.values)
    return found
