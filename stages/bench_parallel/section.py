"""The report's section on automatic parallelism (13.3)."""

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

from matplotlib.axes import Axes

from lab.report import benchmarks, figures
from lab.report.benchmarks import (
    beside_the_book,
    ratio,
    ratio_of,
    ratio_text,
    verdict,
    verdict_text,
)
from lab.report.language import say
from lab.report.page import Figure, Section, TryThis
from lab.results.measurements import Results
from lab.results.stats import speedup
from stages.bench_parallel import names

# ratios that compare across machines, where times do not
HEADLINES = {names.SPEEDUP: "two devices together over in turn"}

ARMS = (names.FIRST, names.SECOND, names.ONE_AFTER_THE_OTHER, names.TOGETHER)


def section(folder: Path) -> Section:
    """The section of `folder` (reports/bench_parallel)."""
    results, m = benchmarks.read(folder)
    first, second, together = (
        results.series(names.PRODUCTS, arm)[-1]
        for arm in (names.FIRST, names.SECOND, names.TOGETHER)
    )
    return Section(
        stage="bench_parallel",
        title=say("Automatic parallelism: two devices at once"),
        book="13.3",
        question=say(
            "Do two devices compute at the same time, with nothing in the program that says so?"
        ),
        findings=[
            *_findings(results, m),
            _dependent(results),
            _first_run(results),
            *_careless(results),
            benchmarks.trust(m),
            *benchmarks.skipped(results),
        ],
        figures=[
            Figure(
                "parallel",
                say(
                    "Time of products on each device alone, one after the other, and together, with"
                    " both bounds."
                ),
                say(
                    "Dots are starts of the process, bars medians. Together can take as long as the"
                    " sum of both (no gain) or as the longer of the two (full gain); both bounds"
                    " are drawn."
                ),
                partial(_draw, results, m),
            ),
            Figure(
                "parallel_limits",
                say(
                    "Time of a process's first run and of later ones, and of 50 products that do or"
                    " do not need each other's results."
                ),
                say(
                    "Dots are starts of the process, bars medians. Left: what a run to warm up"
                    " keeps out of the times, and whether caches are what it is about. Right: a"
                    " second device is of use only to products that can go on without the other's."
                ),
                partial(_draw_limits, results, m),
            ),
        ],
        tables=[
            beside_the_book(
                [
                    [
                        say("C2: first device alone"),
                        "0.4660 s (4000 x 4000)",
                        f"{first.summary.median / 1e3:.4f} s ({first.x:.0f})",
                        say("another size and device"),
                    ],
                    [
                        say("C2: second device alone"),
                        "0.4510 s",
                        f"{second.summary.median / 1e3:.4f} s",
                        say("the same"),
                    ],
                    [
                        say("C3: both"),
                        "0.4659 s",
                        f"{together.summary.median / 1e3:.4f} s",
                        say("the book's last wait is for the current GPU alone; here for both"),
                    ],
                ]
            )
        ],
        try_this=TryThis(
            "bench_parallel.sizes",
            "[64, 128, 256]",
            say("see from which size on two are faster than one"),
        ),
    )


def _findings(results: Results, m: dict[str, Any]) -> list[str]:
    sizes = [f"{found.x:.0f}" for found in results.series(names.PRODUCTS, names.TOGETHER)]
    where = {
        "cpu-virtual": say("two virtual devices in two threads"),
        "cuda": say("two GPUs"),
        "cuda-shared": say("two streams of one GPU"),
    }[m["device_kind"]]
    large = say(
        "Together is {verdict} one after the other on {where} with products of {rows} rows:"
        " {ratio}, where {bound:.2f}x is the bound.",
        verdict=verdict(m, names.SPEEDUP),
        where=where,
        rows=sizes[-1],
        ratio=ratio(m, names.SPEEDUP),
        bound=m[names.SPEEDUP_BOUND],
    )
    small = say(
        "With products of {rows} rows together is {verdict} one after the other: {ratio}.",
        rows=sizes[0],
        verdict=verdict(m, names.SMALL_SPEEDUP),
        ratio=ratio(m, names.SMALL_SPEEDUP),
    )
    less = ratio_of(m, names.SMALL_SPEEDUP).high < ratio_of(m, names.SPEEDUP).low
    if m["device_kind"] == "cpu-virtual" and less:
        small += " " + say(
            "That is less than with large ones: a small product is over so soon that starting the"
            " threads, and waiting for Python's lock, which one of them holds at a time, take their"
            " part."
        )
    return [large, small]


def _dependent(results: Results) -> str:
    one, dependent, independent = (
        results.series(names.DEPENDENCIES, arm)[-1]
        for arm in (names.ONE_DEVICE, names.DEPENDENT, names.INDEPENDENT)
    )
    in_need, free = (speedup(one.values, two.values) for two in (dependent, independent))
    return say(
        "Two devices are {verdict} one for products that each need the one before: {ratio}; for"
        " two chains that need nothing of each other they are {free_verdict} one: {free_ratio}.",
        verdict=verdict_text(in_need),
        ratio=ratio_text(in_need),
        free_verdict=verdict_text(free),
        free_ratio=ratio_text(free),
    )


def _first_run(results: Results) -> str:
    first, second, later, emptied = (
        results.series(names.WARM_UP, arm)[-1]
        for arm in (names.FIRST_RUN, names.SECOND_RUN, names.LATER_RUN, names.EMPTIED_CACHES)
    )
    return say(
        "Of the time of later runs a process's first run takes {first}, its second {second}, and a"
        " run with the caches emptied {emptied}.",
        first=ratio_text(speedup(first.values, later.values)),
        second=ratio_text(speedup(second.values, later.values)),
        emptied=ratio_text(speedup(emptied.values, later.values)),
    )


def _careless(results: Results) -> list[str]:
    wrong = results.one(names.LONGER_SECOND, names.NO_ARGUMENT)
    right = results.one(names.LONGER_SECOND, names.BOTH_WAITED_FOR)
    if not wrong or not right:
        return []
    return [
        say(
            "With a longer job on the second GPU, the notes' wait reports {wrong:.1f} ms where both"
            " have finished after {right:.1f} ms.",
            wrong=wrong.summary.median,
            right=right.summary.median,
        )
    ]


def _draw(results: Results, m: dict[str, Any], path: Path) -> None:
    sizes = [found.x for found in results.series(names.PRODUCTS, names.TOGETHER)]
    with figures.figure(path, 11, 3.2) as fig:
        for axes, size in zip(fig.subplots(1, len(sizes), squeeze=False)[0], sizes, strict=True):
            medians = _draw_arms(axes, results, m, names.PRODUCTS, ARMS, size)
            for bound, name in ((max(medians[:2]), "longer"), (sum(medians[:2]), "sum")):
                axes.axvline(bound, color=figures.FAINT, linestyle="--", linewidth=1)
                axes.annotate(
                    name, (bound, -0.65), (3, 0), textcoords="offset points", color=figures.FAINT
                )
            axes.set(title=f"{size:.0f} rows (ms)")


def _draw_limits(results: Results, m: dict[str, Any], path: Path) -> None:
    with figures.figure(path, 11, 3.2) as fig:
        left, right = fig.subplots(1, 2)
        for axes, demo, title in (
            (left, names.WARM_UP, "a run of 50 products (ms)"),
            (right, names.DEPENDENCIES, "50 products in chains (ms)"),
        ):
            arms = results.arms(demo)
            size = results.series(demo, arms[0])[-1].x
            _draw_arms(axes, results, m, demo, arms, size)
            axes.set(title=title)


def _draw_arms(
    axes: Axes, results: Results, m: dict[str, Any], demo: str, arms: Sequence[str], size: float
) -> list[float]:
    """Draw the arms' samples, the last arm in another colour; return their medians."""
    found = [one for arm in arms if (one := results.one(demo, arm, size))]
    for i, one in enumerate(found):
        colour = figures.COLOURS[1 if i == len(found) - 1 else 0]
        figures.bar_with_samples(axes, i, one.values, colour, m["device_kind"] == "cpu-virtual")
    longest = max(max(one.values) for one in found)
    axes.set_yticks(range(len(arms)), arms)
    axes.set(xlim=(0, longest * 1.15), ylim=(len(arms) - 0.4, -1))
    axes.grid(visible=False, axis="y")
    return [one.summary.median for one in found]
