"""The report's section on asynchronous computation (13.2)."""

from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from lab.report import benchmarks, figures
from lab.report.benchmarks import beside_the_book, curve_of, ratio, ratio_of, ratio_text
from lab.report.language import say
from lab.report.page import Figure, Section, Table, TryThis
from lab.results.measurements import Results
from lab.results.stats import fit_line, speedup
from stages.bench_async import names
from stages.bench_async.claims import RETURNS_BEFORE

FAIR = (names.FAIR_NUMPY, names.FAIR_TORCH)


def section(folder: Path) -> Section:
    """The section of `folder` (reports/bench_async)."""
    results, m = benchmarks.read(folder)
    return Section(
        stage="bench_async",
        title=say("Asynchronous computation: when is the result there?"),
        book="13.2",
        question=say(
            "Does a call return before its result is there, and how wrong is a clock that does not"
            " know?"
        ),
        findings=[*_findings(results, m), benchmarks.trust(m), *benchmarks.skipped(results)],
        figures=[
            Figure(
                "async_products",
                say(
                    "Time until a matrix product's call returns and until its result is there;"
                    " numpy against torch."
                ),
                say(
                    "Left: where the two lines lie on each other, the call computes. Right: float32"
                    " in both, the same number of threads, random numbers made beforehand."
                ),
                partial(_draw_products, results),
            ),
            Figure(
                "async_run_ahead",
                say(
                    "Cost per small operation in a series, waited for once or each time; cost of"
                    " what makes Python wait."
                ),
                say(
                    "Left: time per operation of series of growing length; bands hold the middle"
                    " half of the starts. Right: what each blocker adds to one small operation."
                ),
                partial(_draw_run_ahead, results),
            ),
        ],
        tables=[_careless(results, m), _beside(results)],
        try_this=TryThis(
            "bench_async.sizes",
            "[64, 2048]",
            say("see from which size on waiting is all that counts"),
        ),
    )


def _us_per_operation(results: Results, arm: str) -> float:
    """The slope of a line through a series' median times against its length."""
    series = results.series(names.RUN_AHEAD, arm)
    slope, _ = fit_line([m.x for m in series], [m.summary.median for m in series])
    return slope


def _findings(results: Results, m: dict[str, Any]) -> list[str]:
    share = ratio_of(m, names.RETURN_OVER_FINISH)
    queued = share.high < RETURNS_BEFORE
    why = (
        say("the call only queues the product, and the result comes later.")
        if queued
        else say(
            "the two times agree, because torch computes on a CPU within the call. There is no"
            " queue to run ahead of; the notes' demo shows something on a GPU alone."
        )
    )
    returned = say(
        "At the largest size a call has returned after {share:.1f} % ({low:.1f} to {high:.1f}) of"
        " the time until its result is there: {why}",
        share=100 * share.median,
        low=100 * share.low,
        high=100 * share.high,
        why=why,
    )
    model = say(
        "A small operation costs {once:.2f} µs in a series waited for once and {each:.2f} µs"
        " waited for each time (slopes of fits over the series' lengths). The book's model is n·t2"
        " + t1 + t3 against n·(t1 + t2 + t3).",
        once=_us_per_operation(results, names.WAITING_ONCE),
        each=_us_per_operation(results, names.WAITING_EACH),
    )
    if not queued:
        model += " " + say("Here the difference is the call that finds nothing to wait for.")
    book_numpy, waited, fair_numpy, fair_torch = (
        results.series(names.BOOK, arm)[0].values
        for arm in (names.BOOK_NUMPY, names.WAITED_FOR, names.FAIR_NUMPY, names.FAIR_TORCH)
    )
    numpy = say(
        "The notes' comparison would report torch {claims} faster than numpy, and {waited} if it"
        " waited. With the same dtype, threads and random numbers it is {fair}: float64 in numpy"
        " and random numbers inside the clock make the rest.",
        claims=ratio(m, names.BOOK_CLAIMS),
        waited=ratio_text(speedup(book_numpy, waited)),
        fair=ratio_text(speedup(fair_numpy, fair_torch)),
    )
    warm_up = say(
        "Without warm-up the first product of a process takes {times:.0f} times as long as later"
        " ones (the median over {starts} start(s)).",
        times=m[names.NO_WARM_UP_OVER_STEADY],
        starts=m["starts"],
    )
    return [returned, model, numpy, _back_end(results), warm_up]


def _back_end(results: Results) -> str:
    products, ones = (
        results.series(names.BACK_END, arm)[0].summary.median
        for arm in (names.RANDOM_PRODUCT, names.ONES)
    )
    before, after = (
        results.series(names.THREADS, arm)[0].values for arm in (names.BEFORE, names.AFTER)
    )
    return say(
        "The back end takes {products:.1f} % of the time of the notes' random products and"
        " {ones:.0f} % of that of their x * y + 2, as torch's profiler sees it; asked for two"
        " threads, it starts {threads:.0f} of its own.",
        products=products,
        ones=ones,
        threads=after[0] - before[0],
    )


def _careless(results: Results, m: dict[str, Any]) -> Table:
    waited = results.one(names.BOOK, names.WAITED_FOR)
    rows = []
    for name in (n for n in results.arms(names.BOOK) if n not in FAIR):
        found = results.one(names.BOOK, name)
        if found and waited:
            share = found.summary.median / waited.summary.median
            rows.append(
                [name, f"{found.summary.median:.3f} ({found.summary.iqr:.3f})", f"{share:.3g}"]
            )
    times = say("{times:.3g} of a later one", times=m[names.NO_WARM_UP_OVER_STEADY])
    rows.append([say("first product, no warm-up"), "–", times])
    return Table(
        [
            say("way of timing"),
            say("ms for ten products (IQR over starts)"),
            say("of the honest time"),
        ],
        rows,
        say("How wrong one would have been. The honest time waits for the device that computes."),
    )


def _beside(results: Results) -> Table:
    def seconds(name: str) -> str:
        found = results.one(names.BOOK, name)
        return f"{found.summary.median / 1e3:.4f} s" if found else say("skipped")

    found = results.one(names.BOOK, names.WAITED_FOR)
    z, unordered = (
        results.one(names.DEPENDENCIES, arm) for arm in (names.IN_ORDER, names.UNORDERED)
    )
    on_cpu = found is not None and found.device_kind == "cpu-virtual"
    size = f"{found.x:.0f}" if found else "?"
    queueing = (
        say("the book's is the time to queue ten products on a GPU; a CPU has no queue")
        if on_cpu
        else say("the book's is the time to queue ten products on a GPU")
    )
    return beside_the_book(
        [
            [
                say("B1: numpy"),
                "1.4693 s (1000 x 1000)",
                f"{seconds(names.BOOK_NUMPY)} ({size} x {size})",
                say("another processor; both are float64 with random numbers inside the clock"),
            ],
            [say("B1: torch, no waiting"), "0.0022 s", seconds(names.NOT_WAITED_FOR), queueing],
            [say("B2: torch, waiting"), "0.0058 s", seconds(names.WAITED_FOR), say("a GPU there")],
            [
                say("B4: x * y + 2 of ones"),
                "[[3, 3]]",
                f"{z.values[0]:g}" if z else say("skipped"),
                say(
                    "no difference; on a stream that does not wait it is {other:g}",
                    other=unordered.values[0],
                )
                if unordered
                else say("a CPU has no queue, and so no order to keep"),
            ],
        ]
    )


def _draw_products(results: Results, path: Path) -> None:
    with figures.figure(path, 11, 3.8) as fig:
        panels = fig.subplots(1, 2)
        for axes, demo, title in zip(
            panels,
            (names.PRODUCT, names.NUMPY_TORCH),
            ("Until the call returns, until the result is there", "numpy and torch, result there"),
            strict=True,
        ):
            curves = [curve_of(results.series(demo, n), n, 1e-3) for n in results.arms(demo)]
            axes.set(
                title=f"{title} (ms)", xlabel="rows of the matrices", xscale="log", yscale="log"
            )
            sizes = [m.x for m in results.series(demo, results.arms(demo)[0])]
            axes.set_xticks(sizes, [f"{x:g}" for x in sizes])
            axes.minorticks_off()
            for i, (c, width) in enumerate(zip(curves, (5, 1.8), strict=True)):
                axes.plot(
                    c.x,
                    c.y,
                    color=figures.COLOURS[i],
                    linewidth=width,
                    marker="o",
                    markersize=width + 2,
                )
            ends = [(c.series, c.x[-1], c.y[-1], figures.COLOURS[i]) for i, c in enumerate(curves)]
            figures.label_ends(axes, ends)


def _draw_run_ahead(results: Results, path: Path) -> None:
    with figures.figure(path, 11, 3.6) as fig:
        series, blockers = fig.subplots(1, 2)
        series.set(
            title="µs per operation", xlabel="operations in the series", xscale="log", yscale="log"
        )
        curves = []
        drawn = (names.WAITING_ONCE, names.WAITING_EACH, names.CALLS_RETURN)
        for name in drawn:
            c = curve_of(results.series(names.RUN_AHEAD, name), name)
            curves.append(replace(c, y=c.y / c.x, low=c.low / c.x, high=c.high / c.x))
        series.set_ylim(
            min(c.low.min() for c in curves) / 1.2, max(c.high.max() for c in curves) * 1.2
        )
        figures.plain_ticks(series.yaxis)
        figures.draw_curves(series, curves)
        [nothing] = results.series(names.BLOCKER, names.NOTHING)
        adding = [n for n in results.arms(names.BLOCKER) if n != names.NOTHING]
        costs = [
            max(0.01, m.summary.median - nothing.summary.median)
            for n in adding
            for m in results.series(names.BLOCKER, n)
        ]
        figures.bars(blockers, adding, costs, "{:.3g} µs")
        blockers.set(title="What a blocker adds (µs)", xscale="log", xlim=(0.01, max(costs) * 8))
