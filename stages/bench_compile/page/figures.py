"""The figures of the page on compiling."""

from pathlib import Path

import numpy as np

from lab.report import plots
from lab.report.language import say, translation
from lab.report.page import Draw, Figure
from lab.results.documents import read_results
from lab.results.measurements import Results
from stages.bench_compile.findings import batches, eager_like, over_eager
from stages.bench_compile.page.values import compiled_forms

MOST_CALLS = 100_000  # that are shown


def figures(folder: Path) -> list[Figure]:
    """The figures of `folder` (reports/bench_compile)."""
    results = read_results(folder)
    virtual = results.conditions["device_kind"] == "cpu-virtual"
    return [
        Figure(
            "compile_speedups",
            [speeds(results, size, virtual) for size in dict.fromkeys(batches(results))],
        ),
        Figure("compile_pays", [with_building(results, virtual)]),
    ]


def speeds(results: Results, batch: float, virtual: bool) -> Draw:
    """Each form's speed-up at a batch size."""
    rows = {translation(form): over_eager(results, form, batch) for form in compiled_forms(results)}
    title = say("Batch {size:,}", size=int(batch))
    return plots.dots(rows, say("Speed relative to eager (×)"), title, virtual=virtual)


def with_building(results: Results, virtual: bool) -> Draw:
    """How many times as fast a number of calls is, building included."""
    calls = np.geomspace(1, MOST_CALLS, 80)
    shown = [plots.Line(say("eager"), [1, MOST_CALLS], [1, 1], faint=True)]
    for form in compiled_forms(results):
        base, call, built = (
            results.one("call", eager_like(form)),
            results.one("call", form),
            results.one("build", form),
        )
        if base and call and built:
            us = 1e6 * built.values[0] + calls * call.summary.median
            speed = calls * base.summary.median / us
            shown.append(plots.Line(translation(form), calls.tolist(), speed.tolist()))
    return plots.lines(
        shown,
        say("Number of calls"),
        say("Speed relative to eager (×)"),
        xscale="log",
        height=3.6,
        virtual=virtual,
    )
