"""The report's section on automatic parallelism (13.3)."""

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

from matplotlib.axes import Axes

from lab.report import benchmarks, figures
from lab.report.benchmarks import beside_the_book, ratio_of
from lab.report.language import say, translation
from lab.report.page import Figure, Section, Table, TryThis
from lab.results.measurements import Measurement, Results
from lab.results.stats import speedup

# ratios that compare across machines, where times do not
HEADLINES = {"speedup": "two devices together over in turn"}

VARIANTS = ("first alone", "second alone", "one after the other", "together")


def section(folder: Path) -> Section:
    """The section of `folder` (reports/bench_parallel)."""
    results, m = benchmarks.read(folder)
    sizes = [found.x for found in results.series("products", "together")]
    return Section(
        stage="bench_parallel",
        title=say("Automatic parallelism: two devices at once"),
        book="13.3",
        question=say(
            "Do two devices compute at the same time, with nothing in the program that says so?"
        ),
        answer=_answer(sizes[-1], m),
        findings=[
            *_sizes(sizes[0], m),
            _independent(results),
            *_careless(results),
            *benchmarks.trust(m),
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
                    "Bars are medians, dots the starts of the process. Dashed: together takes at"
                    " least as long as the longer of the two alone, and without any gain as long"
                    " as their sum."
                ),
                [partial(_draw_products, results, m, size) for size in reversed(sizes)],
            ),
            Figure(
                "parallel_limits",
                say(
                    "Time of a process's first run and of later ones, and of 50 products that do or"
                    " do not need each other's results."
                ),
                say(
                    "Bars are medians, dots the starts of the process. Only products that need"
                    " nothing of each other gain by a second device."
                ),
                [
                    partial(_draw_experiment, results, m, experiment)
                    for experiment in ("dependencies", "warm-up")
                ],
            ),
        ],
        tables=[_beside_the_book(results)],
        try_this=TryThis(
            "bench_parallel.sizes",
            "[8, 64, 192]",
            say("Do two devices still pay with matrices of 8 rows?"),
            say(
                "Hardly, on a CPU: 50 such products take about a tenth of a millisecond, as long as"
                " starting the threads, and Python's lock lets one of them call at a time. The gain"
                " comes with the size."
            ),
        ),
    )


def _answer(size: float, m: dict[str, Any]) -> str:
    where = {
        "cpu-virtual": say("two virtual devices in two threads"),
        "cuda": say("two GPUs"),
        "cuda-shared": say("two streams of one GPU"),
    }[m["device_kind"]]
    return say(
        "At once, {where} compute products of {rows:.0f} rows {median:.3g} times as fast as one"
        " after the other ({low:.3g} to {high:.3g}).",
        where=where,
        rows=size,
        **vars(ratio_of(m, "speedup")),
    )


def _sizes(smallest: float, m: dict[str, Any]) -> list[str]:
    small = ratio_of(m, "small_speedup")
    sentences = [
        say(
            "At best it would be {bound:.3g} times: as fast as the slower of the two alone.",
            bound=m["speedup_bound"],
        ),
        say(
            "With products of {rows:.0f} rows it is {median:.3g} times ({low:.3g} to {high:.3g}).",
            rows=smallest,
            **vars(small),
        ),
    ]
    if m["device_kind"] == "cpu-virtual" and small.high < ratio_of(m, "speedup").low:
        sentences.append(
            say(
                "Small products are over so soon that starting threads counts, and waiting for"
                " Python's lock, which one thread holds at a time."
            )
        )
    return sentences


def _independent(results: Results) -> str:
    one, independent = (
        results.series("dependencies", variant)[-1]
        for variant in ("dependent, one device", "independent, two devices")
    )
    return say(
        "Two chains of products that need nothing of each other run {median:.3g} times as fast as"
        " one chain of as many ({low:.3g} to {high:.3g}).",
        **vars(speedup(one.values, independent.values)),
    )


def _careless(results: Results) -> list[str]:
    wrong = results.one("products, second job longer", "wait without an argument")
    right = results.one("products, second job longer", "wait for both GPUs")
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


def _beside_the_book(results: Results) -> Table:
    first, second, together = (
        results.series("products", variant)[-1]
        for variant in ("first alone", "second alone", "together")
    )
    return beside_the_book(
        [
            [
                say("first device alone"),
                "0.4660 s (4000 × 4000)",
                f"{_seconds(first)} ({first.x:.0f} × {first.x:.0f})",
                say("another size and device"),
            ],
            [say("second device alone"), "0.4510 s", _seconds(second), say("the same")],
            [
                say("both"),
                "0.4659 s",
                _seconds(together),
                say("the book's last wait is for the current GPU alone; here for both"),
            ],
        ]
    )


def _seconds(found: Measurement) -> str:
    return f"{found.summary.median / 1e3:.4f} s"


def _draw_products(results: Results, m: dict[str, Any], size: float, path: Path) -> None:
    with figures.figure(path, figures.WIDTH, 2.4) as fig:
        axes = fig.add_subplot(title=say("Matrices of {rows:.0f} rows", rows=size))
        medians = _draw_variants(axes, results, m, "products", VARIANTS, size)
        axes.set_ylim(top=-1.1)  # room for the bounds' names
        for bound, name in ((max(medians[:2]), say("longer")), (sum(medians[:2]), say("sum"))):
            figures.name_bound(axes, bound, name)


def _draw_experiment(results: Results, m: dict[str, Any], experiment: str, path: Path) -> None:
    title = {
        "warm-up": say("Warming up"),
        "dependencies": say("Products that need each other, or not"),
    }[experiment]
    variants = results.variants(experiment)
    with figures.figure(path, figures.WIDTH, 2.2) as fig:
        axes = fig.add_subplot(title=title)
        _draw_variants(
            axes, results, m, experiment, variants, results.series(experiment, variants[0])[-1].x
        )


def _draw_variants(
    axes: Axes,
    results: Results,
    m: dict[str, Any],
    experiment: str,
    variants: Sequence[str],
    size: float,
) -> list[float]:
    """Draw the variants' samples, the last variant in another colour; return their medians."""
    by_size = [{m.x: m for m in results.series(experiment, variant)} for variant in variants]
    found = [measured[size] for measured in by_size]
    for i, one in enumerate(found):
        colour = figures.COLOURS[1 if i == len(found) - 1 else 0]
        figures.bar_with_samples(axes, i, one.values, colour, m["device_kind"] == "cpu-virtual")
    longest = max(max(one.values) for one in found)
    axes.set_yticks(range(len(found)), [translation(one.variant) for one in found])
    axes.set(xlim=(0, longest * 1.08), ylim=(len(found) - 0.4, -0.6))
    axes.set_xlabel(say("milliseconds for 50 products"))
    axes.grid(visible=False, axis="y")
    return [one.summary.median for one in found]
