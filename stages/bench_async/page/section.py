"""The report's section on asynchronous computation (13.2)."""

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import LogLocator

from lab.report import benchmarks, figures
from lab.report.benchmarks import ratio, ratio_of, ratio_text
from lab.report.language import say, translation
from lab.report.page import Figure, Section, Table, TryThis
from lab.results.measurements import Measurement, Results
from lab.results.stats import fit_line, speedup
from stages.bench_async.page.claims import RETURNS_BEFORE

BOOK_SECONDS = {  # of ten products, in the book's notebook
    "numpy, float64": 1.4693,
    "torch, not waited for": 0.0022,
    "torch, waited for": 0.0058,
}

FAIR = ("numpy, products alone", "torch, products alone")
LEAST_US = 0.01  # where a logarithmic axis begins that has no 0
WAITING_HEIGHT = 2.7  # inches of the two panels side by side
ROOM = 1.15  # times, beside what a logarithmic axis shows


def section(folder: Path) -> Section:
    """The section of `folder` (reports/bench_async)."""
    results, m = benchmarks.read(folder)
    virtual = m["device_kind"] == "cpu-virtual"
    return Section(
        stage="bench_async",
        title=say("Asynchronous computation: when is the result ready?"),
        book="13.2",
        question=say(
            "Does a call return before its result is ready, and how wrong is a clock that ignores"
            " this?"
        ),
        answer=_answer(m),
        findings=[*_findings(results, m), *benchmarks.trust(m), *benchmarks.skipped(results)],
        figures=[
            _returning(results, virtual),
            _numpy(results, virtual),
            _waiting(results, virtual),
        ],
        tables=[_ways_of_timing(results)],
        try_this=TryThis(
            "bench_async.sizes",
            "[64, 2048]",
            say("Which call returns at a smaller share of its time, 64 rows or 2048?"),
            say(
                "On a CPU 64 rows: both calls return with their work done, but the check that"
                " nothing is left takes about a microsecond, which counts beside ten. On a GPU"
                " 2048 rows: queueing takes the same time for any size."
            ),
        ),
    )


def _queued(m: Mapping[str, Any]) -> bool:
    """Whether calls return before their work is done."""
    return ratio_of(m, "return_over_finish").high < RETURNS_BEFORE


def _answer(m: Mapping[str, Any]) -> str:
    share = ratio_of(m, "return_over_finish")
    percent = {"share": 100 * share.median, "low": 100 * share.low, "high": 100 * share.high}
    if _queued(m):
        return say(
            "Yes: a matrix product's call returns after {share:.3g} % ({low:.3g} to {high:.3g}) of"
            " the time until its result is ready.",
            **percent,
        )
    return say(
        "Not on this CPU: a product's call returns after {share:.3g} % ({low:.3g} to {high:.3g}) of"
        " the time its result takes; a GPU is untested.",
        **percent,
    )


def _findings(results: Results, m: Mapping[str, Any]) -> list[str]:
    return [
        _model(results, m),
        *_comparison(results, m),
        _back_end(results),
        say(
            "Without warm-up a process's first product takes {times:.0f} times as long as later"
            " ones (median over {starts} starts).",
            times=m["no_warm_up_over_steady"],
            starts=m["starts"],
        ),
    ]


def _model(results: Results, m: Mapping[str, Any]) -> str:
    """What waiting costs a small operation, by lines fitted over the series' lengths."""
    once, each = (
        _us_per_operation(results, variant) for variant in ("waiting once", "waiting after each")
    )
    if _queued(m):
        return say(
            "Waiting after each small operation instead of once costs {more:.2g} µs more.",
            more=each - once,
        )
    return say(
        "Waiting after each small operation instead of once costs {more:.2g} µs more: on a CPU just"
        " a synchronize call that returns immediately.",
        more=each - once,
    )


def _us_per_operation(results: Results, variant: str) -> float:
    """The slope of a line through a series' median times against its length."""
    series = results.series("run_ahead", variant)
    slope, _ = fit_line([m.x for m in series], [m.summary.median for m in series])
    return slope


def _comparison(results: Results, m: Mapping[str, Any]) -> list[str]:
    """torch against numpy by the notes' clock, and fairly."""
    fair_numpy, fair_torch = (results.series("book", variant)[0].values for variant in FAIR)
    return [
        say(
            "By the notes' clock torch is {ratio} as fast as numpy, whose float64 and random"
            " numbers are timed, too.",
            ratio=ratio(m, "book_claims"),
        ),
        say(
            "With the same dtype, threads and random numbers torch is {ratio} as fast as numpy.",
            ratio=ratio_text(speedup(fair_numpy, fair_torch)),
        ),
    ]


def _back_end(results: Results) -> str:
    products, ones = (
        results.series("back_end", variant)[0].summary.median
        for variant in ("random product", "x * y + 2")
    )
    return say(
        "The back end takes {products:.1f} % of the notes' random products' time, and {ones:.0f} %"
        " of that of x · y + 2.",
        products=products,
        ones=ones,
    )


def _ways_of_timing(results: Results) -> Table:
    """The notes' ten products by each clock, in the book and here."""
    [waited] = results.series("book", "torch, waited for")
    rows = []
    for way in (n for n in results.variants("book") if n not in FAIR):
        [found] = results.series("book", way)
        rows.append(
            [
                translation(way),
                f"{1e3 * BOOK_SECONDS[way]:.4g}" if way in BOOK_SECONDS else "–",
                f"{found.summary.median:.1f} ({found.summary.iqr:.1f})",
                f"{found.summary.median / waited.summary.median:.3g}",
            ]
        )
    return Table(
        [
            say("ten products"),
            say("the book, ms"),
            say("here, ms (IQR over starts)"),
            say("here, times the honest time"),
        ],
        rows,
        say(
            "The honest time waits for the device that computes. The book's numbers are one sample"
            " each, on a GPU: without waiting it is the time to queue ten products. Matrices of"
            " 1000 × 1000 in the book, {size:.0f} × {size:.0f} here.",
            size=waited.x,
        ),
    )


# --- figures ---


def _returning(results: Results, virtual: bool) -> Figure:
    return Figure(
        "async_products",
        say(
            "Share of a call in the time until its result is ready, for products of growing size"
            " and series of small operations."
        ),
        say(
            "Each bar is the time until the result is ready, which its label tells. A call that"
            " only queues its work would return early: much of the bar would be orange."
        ),
        [
            partial(_draw_shares, results, "product", virtual),
            partial(_draw_shares, results, "run_ahead", virtual),
        ],
    )


def _numpy(results: Results, virtual: bool) -> Figure:
    return Figure(
        "async_numpy",
        say("torch's speed against numpy's, by the notes' clock and by fair ones."),
        say(
            "Dots are medians, lines their 99 % intervals over starts; right of 1 torch is faster."
            " Fair: float32 in both, equal threads, random numbers made beforehand."
        ),
        [partial(_draw_clocks, results, virtual)],
    )


def _waiting(results: Results, virtual: bool) -> Figure:
    return Figure(
        "async_run_ahead",
        say(
            "Cost per small operation in a series, waited for once or each time; cost of what makes"
            " Python wait."
        ),
        say(
            "Bars and blue dots are medians, small dots the starts. The book's model: n·t₂ + t₁ +"
            " t₃ if waited for once, n·(t₁ + t₂ + t₃) if each time. A blocker makes Python wait."
        ),
        [partial(_draw_series, results, virtual), partial(_draw_blockers, results, virtual)],
    )


def _draw_shares(results: Results, experiment: str, virtual: bool, path: Path) -> None:
    """Draw how much of the time until a result is ready passes within the call."""
    title, *variants = {
        "product": (say("Products of matrices"), "call returns", "result there"),
        "run_ahead": (say("Series of operations"), "calls return", "all done"),
    }[experiment]
    returns, ready = (results.series(experiment, variant) for variant in variants)
    with figures.figure(path, figures.WIDTH, 1.3 + 0.5 * len(ready)) as fig:
        axes = fig.add_subplot(xlim=(0, 100))
        axes.set_title(title, x=0)
        axes.set_xlabel(say("% of the time until the result is ready"))
        for row, (call, whole) in enumerate(zip(returns, ready, strict=True)):
            _draw_share(axes, row, 100 * speedup(call.values, whole.values).median, virtual)
        axes.set_yticks(range(len(ready)), [_work(experiment, whole) for whole in ready])
        axes.set_ylim(len(ready) - 0.4, -0.6)
        axes.grid(visible=False, axis="y")
        figures.key(fig, axes)


def _draw_share(axes: Axes, row: int, percent: float, virtual: bool) -> None:
    """Draw a bar of two parts: until the call returns, and from then on."""
    parts = (
        (say("until the call returns"), 0.0, percent, figures.COLOURS[0]),
        (say("after it has returned"), percent, 100 - percent, figures.COLOURS[1]),
    )
    for name, left, width, colour in parts:
        axes.barh(
            row,
            max(0.0, width),
            left=left,
            height=0.55,
            facecolor=colour,
            edgecolor=figures.PAPER,
            hatch=figures.VIRTUAL_HATCH if virtual else None,
            label="_" * bool(row) + name,  # named once
        )
    axes.annotate(
        f"{percent:.3g} %",
        (100, row),
        (5, 0),
        textcoords="offset points",
        va="center",
        annotation_clip=False,
    )


def _work(experiment: str, whole: Measurement) -> str:
    """What was computed and how long it takes, on two lines."""
    if experiment == "product":
        work = f"{whole.x:.0f} × {whole.x:.0f}"
    elif whole.x == 1:
        work = say("1 operation")
    else:
        work = say("{count:,.0f} operations", count=whole.x)
    return f"{work}\n{_duration(whole.summary.median)}"


def _duration(us: float) -> str:
    """A time in the unit that suits it."""
    return f"{us / 1e3:.3g} ms" if us >= 999.5 else f"{us:.3g} µs"


def _draw_clocks(results: Results, virtual: bool, path: Path) -> None:
    """Draw how many times as fast as numpy torch looks by each clock."""
    numpy, waited, early, fair_numpy, fair_torch = (
        results.series("book", variant)[0]
        for variant in ("numpy, float64", "torch, waited for", "torch, not waited for", *FAIR)
    )
    other = results.one("book", "torch, another GPU waited for")
    pairs = {
        say("the notes' clock"): (numpy, early),
        **({say("another GPU waited for"): (numpy, other)} if other else {}),
        say("the notes', waiting"): (numpy, waited),
        say("fair"): (fair_numpy, fair_torch),
    }
    found = {name: speedup(old.values, new.values) for name, (old, new) in pairs.items()}
    low = min(1.0, *(r.low for r in found.values())) / ROOM
    high = max(1.0, *(r.high for r in found.values())) * ROOM**2  # with room for the numbers
    with figures.figure(path, figures.WIDTH, 1.3 + 0.34 * len(found)) as fig:
        axes = fig.add_subplot(xscale="log", xlim=(low, high))
        axes.set_title(say("Ten products, by how they are timed"), x=0)
        axes.set_xlabel(say("times as fast as numpy"))
        axes.axvline(1, color=figures.INK, linewidth=1)
        for row, r in enumerate(found.values()):
            axes.plot([r.low, r.high], [row, row], color=figures.COLOURS[0], linewidth=2.5)
            _draw_dot(
                axes,
                row,
                r.median,
                f"{r.median:.2f}" if r.median < 10 else f"{r.median:.3g}",
                r.high,
            )
        _name_rows(axes, list(found))
        figures.plain_ticks(axes.xaxis)
        if virtual:
            figures.say_virtual(fig)


def _draw_dot(axes: Axes, row: int, x: float, text: str, right: float) -> None:
    """Draw a dot, and its number right of all that is drawn in its row."""
    axes.plot(x, row, "o", color=figures.COLOURS[0], markersize=7)
    axes.annotate(text, (right, row), (7, 0), textcoords="offset points", va="center")


def _name_rows(axes: Axes, rows: Sequence[str]) -> None:
    axes.set_yticks(range(len(rows)), rows)
    axes.set_ylim(len(rows) - 0.4, -0.6)
    axes.grid(visible=False, axis="y")


def _draw_series(results: Results, virtual: bool, path: Path) -> None:
    """Draw the time per operation of the longest series."""
    variants = ("waiting once", "waiting after each", "calls return")
    longest = [results.series("run_ahead", variant)[-1] for variant in variants]
    with figures.figure(path, figures.WIDTH, WAITING_HEIGHT) as fig:
        axes = fig.add_subplot()
        axes.set_title(say("Series of {count:,.0f} small operations", count=longest[0].x), x=0)
        axes.set_xlabel(say("µs per operation"))
        highest = 0.0
        for row, m in enumerate(longest):
            each = [us / m.x for us in m.values]
            figures.bar_with_samples(axes, row, each, figures.COLOURS[0], virtual)
            axes.annotate(
                f"{np.median(each):.3g}",
                (max(each), row),
                (7, 0),
                textcoords="offset points",
                va="center",
            )
            highest = max(highest, *each)
        axes.set_xlim(0, 1.2 * highest)
        _name_rows(
            axes, [say("waited for once"), say("waited for each time"), say("until calls return")]
        )


def _draw_blockers(results: Results, virtual: bool, path: Path) -> None:
    """Draw what each thing that makes Python wait adds to a small operation."""
    [nothing] = results.series("blocker", "nothing")
    added = {
        translation(m.variant): m.summary.median - nothing.summary.median
        for variant in results.variants("blocker")
        if variant != "nothing"
        for m in results.series("blocker", variant)
    }
    drawn = {name: max(LEAST_US, us) for name, us in added.items()}
    low, high = min(drawn.values()), max(drawn.values())
    with figures.figure(path, figures.WIDTH, WAITING_HEIGHT) as fig:
        axes = fig.add_subplot(xscale="log", xlim=(low / 2, high * 5))
        axes.set_title(say("What a blocker adds"), x=0)
        axes.set_xlabel(say("µs more than without it"))
        for row, (name, us) in enumerate(drawn.items()):
            _draw_dot(axes, row, us, figures.minus(f"{added[name]:.3g} µs"), us)
        _name_rows(axes, list(drawn))
        figures.plain_ticks(axes.xaxis)
        if high > 100 * low:  # ticks at the powers of ten alone, or their numbers would touch
            axes.xaxis.set_major_locator(LogLocator())
        if virtual:
            figures.say_virtual(fig)
