"""The report's section on asynchronous computation (13.2)."""

from dataclasses import replace
from pathlib import Path
from typing import Any

from lab import figures, report_bench
from lab.measurements import Results
from lab.page import Figure, Section, Table, TryThis
from lab.report_bench import beside_the_book, curve_of, ratio
from lab.words import say

RETURNS_BEFORE = 0.9  # of the time until the result is there: below, a call has returned before its work


def section(folder: Path, drawings: Path) -> Section:
    """Draw the figures of `folder` (reports/bench_async) into `drawings` and return the section."""
    results, m = report_bench.read(folder)
    _draw_products(results, drawings / "async_products.svg")
    _draw_run_ahead(results, drawings / "async_run_ahead.svg")
    return Section(
        stage="bench_async",
        title="Asynchronous computation: when is the result there?",
        book="13.2",
        question="Does a call return before its result is there, and how wrong is a clock that does not know?",
        findings=[*_findings(m), report_bench.trust(m), *report_bench.skipped(results)],
        figures=[
            Figure(
                "async_products",
                "Time until a matrix product's call returns and until its result is there; numpy against torch.",
                "Left: where the two lines lie on each other, the call computes. Right: float32 in both, the same"
                " number of threads, random numbers made beforehand.",
            ),
            Figure(
                "async_run_ahead",
                "Cost per small operation in a series, waited for once or each time; cost of what makes Python"
                " wait.",
                "Left: time per operation of series of growing length. Right: what each blocker adds to one small"
                " operation.",
            ),
        ],
        tables=[_careless(results, m), _beside(results)],
        try_this=TryThis(
            "bench_async.sizes", "[64, 2048]", say("see from which size on waiting is all that counts")
        ),
    )


def _asynchronous(m: dict[str, Any]) -> bool:
    return bool(m["return_over_finish_high"] < RETURNS_BEFORE)


def _findings(m: dict[str, Any]) -> list[str]:
    share = (
        f"{100 * m['return_over_finish']:.1f} % ({100 * m['return_over_finish_low']:.1f} to"
        f" {100 * m['return_over_finish_high']:.1f})"
    )
    why = (
        "the call only queues the product, and the result comes later."
        if _asynchronous(m)
        else (
            "the two times agree, because torch computes on a CPU within the call. There is no queue to run ahead"
            " of; the notes' demo shows something on a GPU alone."
        )
    )
    once, each = m["waiting_once_us_per_operation"], m["waiting_after_each_us_per_operation"]
    return [
        f"At the largest size a call has returned after {share} of the time until its result is there: {why}",
        (
            f"A small operation costs {once:.2f} µs in a series waited for once and {each:.2f} µs waited for each"
            " time (slopes of fits over the series' lengths). The book's model is n·t2 + t1 + t3 against"
            " n·(t1 + t2 + t3)"
            + ("." if _asynchronous(m) else "; here the difference is the call that finds nothing to wait for.")
        ),
        (
            f"The notes' comparison would report torch {ratio(m, 'book_claims')} faster than numpy, and"
            f" {ratio(m, 'book_waited_for')} if it waited. With the same dtype, threads and random numbers it is"
            f" {ratio(m, 'torch_over_numpy')}: float64 in numpy and random numbers inside the clock make the"
            " rest."
        ),
        (
            f"Without warm-up the first product of a process takes {m['no_warm_up_over_steady']:.0f} times as"
            " long as later ones."
        ),
    ]


def _careless(results: Results, m: dict[str, Any]) -> Table:
    waited = results.one("book", "torch, waited for")
    rows = []
    for name in results.arms("book"):
        found = results.one("book", name)
        if found and waited:
            share = found.summary.median / waited.summary.median
            rows.append([name, f"{found.summary.median:.3f} ({found.summary.iqr:.3f})", f"{share:.3g}"])
    rows.append(["first product, no warm-up", "–", f"{m['no_warm_up_over_steady']:.3g} of a later one"])
    return Table(
        ["way of timing", "ms for ten products (IQR)", "of the honest time"],
        rows,
        "How wrong one would have been. The honest time waits for the device that computes.",
    )


def _beside(results: Results) -> Table:
    def seconds(name: str) -> str:
        found = results.one("book", name)
        return f"{found.summary.median / 1e3:.4f} s" if found else "skipped"

    found, z = results.one("book", "torch, waited for"), results.one("dependencies", "z")
    numbers = ", ".join(f"{value:g}" for value in z.values) if z else "–"
    on_cpu = found is not None and found.device_kind == "cpu-virtual"
    size = f"{found.x:.0f}" if found else "?"
    return beside_the_book([
        ["B1: numpy", "1.4693 s (1000 x 1000)", f"{seconds('numpy, float64')} ({size} x {size})",
         "another size and processor; both are float64 with random numbers inside the clock"],
        ["B1: torch, no waiting", "0.0022 s", seconds("torch, not waited for"),
         "the book's is the time to queue ten products on a GPU" + ("; a CPU has no queue" if on_cpu else "")],
        ["B2: torch, waiting", "0.0058 s", seconds("torch, waited for"), "a GPU there"],
        ["B4: x * y + 2 of ones", "[[3, 3]]", f"[[{numbers}]]", "no difference: there is one order only"],
    ])  # fmt: skip


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
            axes.set(title=f"{title} (ms)", xlabel="rows of the matrices", xscale="log", yscale="log")
            sizes = [m.x for m in results.series(demo, results.arms(demo)[0])]
            axes.set_xticks(sizes, [f"{x:g}" for x in sizes])
            axes.minorticks_off()
            for i, (c, width) in enumerate(zip(curves, (5, 1.8), strict=True)):
                axes.plot(c.x, c.y, color=figures.COLOURS[i], linewidth=width, marker="o", markersize=width + 2)
            ends = [(c.series, c.x[-1], c.y[-1], figures.COLOURS[i]) for i, c in enumerate(curves)]
            figures.label_ends(axes, ends)


def _draw_run_ahead(results: Results, path: Path) -> None:
    with figures.figure(path, 11, 3.6) as fig:
        series, blockers = fig.subplots(1, 2)
        series.set(title="µs per operation", xlabel="operations in the series", xscale="log", yscale="log")
        curves = []
        for name in results.arms("run_ahead"):
            c = curve_of(results.series("run_ahead", name), name)
            curves.append(replace(c, y=c.y / c.x, low=c.low / c.x, high=c.high / c.x))
        series.set_ylim(min(c.low.min() for c in curves) / 1.2, max(c.high.max() for c in curves) * 1.2)
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
