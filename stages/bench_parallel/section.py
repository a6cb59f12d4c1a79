"""The report's section on automatic parallelism (13.3)."""

from functools import partial
from pathlib import Path
from typing import Any

from lab.report import benchmarks, figures
from lab.report.benchmarks import beside_the_book, ratio, ratio_of, verdict
from lab.report.language import say
from lab.report.page import Figure, Section, TryThis
from lab.results.measurements import Results
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
                    "Dots are rounds, bars medians. Together can take as long as the sum of both"
                    " (no gain) or as the longer of the two (full gain); both bounds are drawn."
                ),
                partial(_draw, results, m),
            )
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


def _careless(results: Results) -> list[str]:
    """What waiting for the current GPU alone would have reported, where there are two GPUs."""
    wrong = results.one(names.LONGER_SECOND, names.CURRENT_WAITED_FOR)
    right = results.one(names.LONGER_SECOND, names.BOTH_WAITED_FOR)
    if not wrong or not right:
        return []
    return [
        say(
            "With a longer job on the second GPU, waiting for the current one alone reports"
            " {wrong:.1f} ms where both have finished after {right:.1f} ms.",
            wrong=wrong.summary.median,
            right=right.summary.median,
        )
    ]


def _draw(results: Results, m: dict[str, Any], path: Path) -> None:
    sizes = [found.x for found in results.series(names.PRODUCTS, names.TOGETHER)]
    with figures.figure(path, 11, 3.2) as fig:
        for axes, size in zip(fig.subplots(1, len(sizes), squeeze=False)[0], sizes, strict=True):
            found = [one for arm in ARMS if (one := results.one(names.PRODUCTS, arm, size))]
            medians = [one.summary.median for one in found]
            for i, one in enumerate(found):
                colour = figures.COLOURS[1 if i == len(found) - 1 else 0]
                figures.bar_with_samples(
                    axes, i, one.values, colour, m["device_kind"] == "cpu-virtual"
                )
            longest = max(max(one.values) for one in found)
            for bound, name in ((max(medians[:2]), "longer"), (sum(medians[:2]), "sum")):
                axes.axvline(bound, color=figures.FAINT, linestyle="--", linewidth=1)
                axes.annotate(
                    name, (bound, -0.65), (3, 0), textcoords="offset points", color=figures.FAINT
                )
            axes.set_yticks(range(len(ARMS)), ARMS)
            axes.set(title=f"{size:.0f} rows (ms)", xlim=(0, longest * 1.15), ylim=(3.6, -1))
            axes.grid(visible=False, axis="y")
