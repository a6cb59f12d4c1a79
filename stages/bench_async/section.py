"""The report's section on asynchronous computation (13.2)."""

from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from lab.report import benchmarks, figures
from lab.report.benchmarks import beside_the_book, curve_of, ratio
from lab.report.language import say
from lab.report.page import Figure, Section, Table, TryThis
from lab.results.measurements import Results

# of the time until the result is there: below, a call has returned before its work
RETURNS_BEFORE = 0.9


def section(folder: Path) -> Section:
    """Return the section of `folder` (reports/bench_async)."""
    results, m = benchmarks.read(folder)
    return Section(
        stage="bench_async",
        title=say("Asynchronous computation: when is the result there?"),
        book="13.2",
        question=say(
            "Does a call return before its result is there, and how wrong is a clock that does not"
            " know?"
        ),
        findings=[*_findings(m), benchmarks.trust(m), *benchmarks.skipped(results)],
        figures=[
            Figure(
                "async_products",
                say(
                    "Time until a matrix product's call returns and until its result is there;"
                    " numpy against"
                    " torch."
                ),
                say(
                    "Left: where the two lines lie on each other, the call computes. Right:"
                    " float32 in both, the"
                    " same number of threads, random numbers made beforehand."
                ),
                partial(_draw_products, results),
            ),
            Figure(
                "async_run_ahead",
                say(
                    "Cost per small operation in a series, waited for once or each time; cost of"
                    " what makes Python"
                    " wait."
                ),
                say(
                    "Left: time per operation of series of growing length. Right: what each"
                    " blocker adds to one"
                    " small operation."
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


def _asynchronous(m: dict[str, Any]) -> bool:
    return bool(m["return_over_finish_high"] < RETURNS_BEFORE)


def _findings(m: dict[str, Any]) -> list[str]:
    queued = _asynchronous(m)
    why = (
        say("the call only queues the product, and the result comes later.")
        if queued
        else say(
            "the two times agree, because torch computes on a CPU within the call. There is no"
            " queue"
            " to run ahead of;"
            " the notes' demo shows something on a GPU alone."
        )
    )
    returned = say(
        "At the largest size a call has returned after {share:.1f} % ({low:.1f} to {high:.1f}) of"
        " the time until"
        " its result is there: {why}",
        share=100 * m["return_over_finish"],
        low=100 * m["return_over_finish_low"],
        high=100 * m["return_over_finish_high"],
        why=why,
    )
    model = say(
        "A small operation costs {once:.2f} µs in a series waited for once and {each:.2f} µs"
        " waited for each"
        " time (slopes of fits over the series' lengths). The book's model is n·t2 + t1 + t3"
        " against"
        " n·(t1 + t2 + t3).",
        once=m["waiting_once_us_per_operation"],
        each=m["waiting_after_each_us_per_operation"],
    )
    if not queued:
        model += " " + say("Here the difference is the call that finds nothing to wait for.")
    numpy = say(
        "The notes' comparison would report torch {claims} faster than numpy, and {waited} if it"
        " waited. With the"
        " same dtype, threads and random numbers it is {fair}: float64 in numpy and random numbers"
        " inside the clock"
        " make the rest.",
        claims=ratio(m, "book_claims"),
        waited=ratio(m, "book_waited_for"),
        fair=ratio(m, "torch_over_numpy"),
    )
    warm_up = say(
        "Without warm-up the first product of a process takes {times:.0f} times as long as later"
        " ones.",
        times=m["no_warm_up_over_steady"],
    )
    return [returned, model, numpy, warm_up]


def _careless(results: Results, m: dict[str, Any]) -> Table:
    waited = results.one("book", "torch, waited for")
    rows = []
    for name in results.arms("book"):
        found = results.one("book", name)
        if found and waited:
            share = found.summary.median / waited.summary.median
            rows.append(
                [name, f"{found.summary.median:.3f} ({found.summary.iqr:.3f})", f"{share:.3g}"]
            )
    times = say("{times:.3g} of a later one", times=m["no_warm_up_over_steady"])
    rows.append([say("first product, no warm-up"), "–", times])
    return Table(
        [say("way of timing"), say("ms for ten products (IQR)"), say("of the honest time")],
        rows,
        say("How wrong one would have been. The honest time waits for the device that computes."),
    )


def _beside(results: Results) -> Table:
    def seconds(name: str) -> str:
        found = results.one("book", name)
        return f"{found.summary.median / 1e3:.4f} s" if found else say("skipped")

    found, z = results.one("book", "torch, waited for"), results.one("dependencies", "z")
    numbers = ", ".join(f"{value:g}" for value in z.values) if z else "–"
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
                f"{seconds('numpy, float64')} ({size} x {size})",
                say(
                    "another size and processor; both are float64 with random numbers inside the"
                    " clock"
                ),
            ],
            [say("B1: torch, no waiting"), "0.0022 s", seconds("torch, not waited for"), queueing],
            [
                say("B2: torch, waiting"),
                "0.0058 s",
                seconds("torch, waited for"),
                say("a GPU there"),
            ],
            [
                say("B4: x * y + 2 of ones"),
                "[[3, 3]]",
                f"[[{numbers}]]",
                say("no difference: there is one order only"),
            ],
        ]
    )


def _draw_products(results: Results, path: Path) -> None:
    with figures.figure(path, 11, 3.8) as fig:
        panels = fig.subplots(1, 2)
        for axes, demo, title in zip(
            panels,
            ("product", "numpy_torch"),
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
        for name in results.arms("run_ahead"):
            c = curve_of(results.series("run_ahead", name), name)
            curves.append(replace(c, y=c.y / c.x, low=c.low / c.x, high=c.high / c.x))
        series.set_ylim(
            min(c.low.min() for c in curves) / 1.2, max(c.high.max() for c in curves) * 1.2
        )
        figures.plain_ticks(series.yaxis)
        figures.draw_curves(series, curves)
        names = results.arms("blocker")
        nothing = results.one("blocker", "nothing")
        costs = [
            max(0.01, m.summary.median - nothing.summary.median)
            for n in names[1:]
            if nothing and (m := results.one("blocker", n))
        ]
        figures.bars(blockers, names[1:], costs, "{:.3g} µs")
        blockers.set(title="What a blocker adds (µs)", xscale="log", xlim=(0.01, max(costs) * 8))
