"""The report's section on computing and copying at once (13.3)."""

from functools import partial
from pathlib import Path
from typing import Any

from matplotlib.axes import Axes

from lab.report import benchmarks, figures
from lab.report.benchmarks import beside_the_book, ratio_of
from lab.report.language import say
from lab.report.page import Figure, Section, Table, TryThis
from lab.results.measurements import Measurement, Results
from stages.bench_overlap.measure import names

# ratios that compare across machines, where times do not
HEADLINES = {"speedup": "copying beside computing over in turn"}

# of the times that the book prints (2.0.0, executed in 2022)
BOOK_FRACTION = (0.5010 + 2.3848 - 2.1558) / 0.5010


def ways() -> dict[str, str]:
    """The variants as the page calls them."""
    return {
        "compute alone": say("computing alone"),
        "copies alone": say("copies alone"),
        "uploads alone": say("uploads alone"),
        "pageable copies alone": say("pageable copies alone"),
        "non_blocking copies alone": say("non_blocking copies alone"),
        "one after the other": say("one after the other"),
        names.BESIDE: say("two threads at once"),
        "pageable memory, blocking": say("pageable memory"),
        "the book's non_blocking, one stream": say("the notes' non_blocking"),
        "pinned buffers, one stream": say("pinned, one stream"),
        names.TWO_STREAMS: say("pinned, two streams"),
        "pinned buffers, both directions at once": say("pinned, both directions"),
        names.AS_THE_BOOK: say("the book's own comparison"),
    }


def section(folder: Path) -> Section:
    """The section of `folder` (reports/bench_overlap)."""
    results, m = benchmarks.read(folder)
    timelines = {
        way: partial(_draw_timeline, results, m, way) for way in results.variants("timeline")
    }
    best = timelines.pop(m["best_arm"], None)
    return Section(
        stage="bench_overlap",
        title=say("Computing and copying at the same time"),
        book="13.3",
        question=say(
            "Can results be copied away while the next ones are computed, and what must a program"
            " do for that?"
        ),
        answer=_answer(m),
        findings=[
            *_findings(results, m),
            _gradients(results),
            *_call(results),
            *benchmarks.trust(m),
            *benchmarks.skipped(results),
        ],
        figures=[
            Figure(
                "overlap",
                say("Time of each way to compute and copy, with its overlap fraction."),
                _copied(m)
                + " "
                + say(
                    "Bars are medians, dots the starts of the process; dashed, the bounds. The"
                    " timeline is one run: overlap is where one bar stands above another, a gap is"
                    " waiting."
                ),
                [partial(_draw_times, results, m), *([best] if best else [])],
            ),
            *_other_timelines(list(timelines.values())),
            Figure(
                "overlap_gradients",
                say("When in LeNet's backward pass the gradient of each parameter is ready."),
                say(
                    "Bars are medians, dots the starts of the process. W1 and b1 are the first"
                    " layer's weights and biases. What is ready early can be moved while the rest"
                    " is computed."
                ),
                [partial(_draw_gradients, results, m)],
            ),
        ],
        tables=[_fractions(results), _beside(results, m)],
        try_this=TryThis(
            "bench_overlap.num_results",
            "8",
            say("With 8 results in place of 16, can overlap gain more or less?"),
            say(
                "Less: nothing is copied beside the first product, and nothing computed beside the"
                " last copy. Of n results that leaves at best 2n / (n + 1) times the speed: 1.78"
                " with 8, 1.88 with 16."
            ),
        ),
    )


def _other_timelines(panels: list[partial[None]]) -> list[Figure]:
    """The timelines of the ways that are not the best."""
    if not panels:
        return []
    return [
        Figure(
            "overlap_timeline",
            say("What computed and what copied when, as torch's profiler saw it."),
            say("One run each. Bars that take turns are no overlap."),
            panels,
        )
    ]


def _copied(m: dict[str, Any]) -> str:
    if m["workload"] == "balanced":
        return say(
            "A copy is made as long as a product: the only point where overlap can halve the time."
        )
    return say("The results are copied, as in the notes.")


def _times(results: Results, m: dict[str, Any]) -> tuple[float, list[float]]:
    """Median milliseconds of the best variant, and of its parts."""
    best = m["best_arm"]
    total, *parts = (
        found.summary.median
        for variant in (best, *names.PARTS[best])
        for found in results.series("times", variant)
    )
    return total, parts


def _answer(m: dict[str, Any]) -> str:
    found = ratio_of(m, "speedup")
    how = {
        names.BESIDE: say("copying in a second thread"),
        names.TWO_STREAMS: say("copying in a second stream"),
    }[m["best_arm"]]
    gain = say(
        "{how} is {median:.3g} times as fast as copying after computing ({low:.3g} to {high:.3g})",
        how=how,
        **vars(found),
    )
    return {
        "faster": say("Yes: {gain}.", gain=gain),
        "slower": say("No: {gain}.", gain=gain),
        "inconclusive": say("Not surely: {gain}.", gain=gain),
    }[found.verdict]


def _findings(results: Results, m: dict[str, Any]) -> list[str]:
    total, parts = _times(results, m)
    return [
        say(
            "Alone the parts take {both:.1f} ms together, the longer one {longer:.1f} ms; at once"
            " they take {total:.1f} ms.",
            both=sum(parts),
            longer=max(parts),
            total=total,
        ),
        say(
            "The times printed in the book have an overlap fraction of {fraction:.2f}; 1 is the"
            " most there can be.",
            fraction=BOOK_FRACTION,
        ),
        say("They compare pageable memory with the pinned memory that non_blocking=True gets."),
        say("On one stream, as in the notes, nothing can overlap."),
    ]


def _gradients(results: Results) -> str:
    first, last = (
        found
        for variant in ("first gradient ready", "last gradient ready")
        for found in results.series("backward pass", variant)
    )
    return say(
        "In LeNet's backward pass over {images:.0f} images the first gradient is ready after"
        " {first:.2f} ms, the last after {last:.1f} ms.",
        images=first.x,
        first=first.summary.median,
        last=last.summary.median,
    )


def _call(results: Results) -> list[str]:
    experiment = "the book's non_blocking call, nothing else at work"
    returns = results.one(experiment, "call returns")
    arrives = results.one(experiment, "copies are there")
    if not returns or not arrives:
        return []
    return [
        say(
            "The notes' call with non_blocking=True returns after {returns:.1f} ms; the copies"
            " are there after {arrives:.1f} ms.",
            returns=returns.summary.median,
            arrives=arrives.summary.median,
        )
    ]


def _fractions(results: Results) -> Table:
    rows = []
    for name in results.variants("overlap"):
        fraction, total = results.one("overlap", name), results.one("times", name)
        if fraction:
            took = f"{total.summary.median:.1f} ({total.summary.iqr:.1f})" if total else "–"
            share = figures.minus(f"{fraction.summary.median:.2f} ({fraction.summary.iqr:.2f})")
            wrong = say("wrong: outside 0 to 1, so no overlap")  # a fraction's only remark
            rows.append([ways()[name], took, share, wrong if fraction.remark else say("possible")])
    return Table(
        [say("way"), say("ms (IQR)"), say("overlap fraction (IQR)"), say("verdict")],
        rows,
        say(
            "The fraction is (t1 + t2 − T) / min(t1, t2) of the same start; it is marked wrong"
            " where an interval that holds its median with 99 % lies outside 0 to 1."
        ),
    )


def _beside(results: Results, m: dict[str, Any]) -> Table:
    [compute] = results.series("times", "compute alone")
    pageable = "pageable copies alone"
    copying = pageable if pageable in results.variants("times") else "copies alone"
    [copies], [rate] = (
        results.series(experiment, copying) for experiment in ("times", "bandwidth")
    )
    total, _ = _times(results, m)
    return beside_the_book(
        [
            [
                say("computing the products"),
                "0.4656 s",
                f"{compute.summary.median / 1e3:.4f} s",
                say("another size and device"),
            ],
            [
                say("copying to the host"),
                "2.3125 s (1.4 GB/s)",
                f"{copies.summary.median / 1e3:.4f} s ({rate.summary.median:.1f} GB/s)",
                say("the book copies 3.2 GB into fresh pageable memory"),
            ],
            [
                say("both at once"),
                "1.6907 s",
                f"{total / 1e3:.4f} s",
                say("there one stream, here really at once"),
            ],
        ]
    )


def _draw_times(results: Results, m: dict[str, Any], path: Path) -> None:
    timed = results.variants("times")
    variants = [n for n in timed if n in names.ALONE] + [n for n in timed if n in names.PARTS]
    found = [one for variant in variants if (one := results.one("times", variant))]
    with figures.figure(path, figures.WIDTH, 1.1 + 0.4 * len(found)) as fig:
        axes = fig.add_subplot(title=say("Alone, in turn, at once"), xlabel=say("milliseconds"))
        labels = []
        for i, one in enumerate(found):
            fraction = results.one("overlap", one.variant)
            colour = figures.COLOURS[1 if fraction else 0]
            virtual = m["device_kind"] == "cpu-virtual"
            figures.bar_with_samples(axes, i, one.values, colour, virtual)
            labels.append(ways()[one.variant] + (f"\n{_share(fraction)}" if fraction else ""))
        axes.set_yticks(range(len(found)), labels)
        longest = max(max(one.values) for one in found)
        axes.set(xlim=(0, longest * 1.08), ylim=(len(found) - 0.4, -1.1))
        axes.grid(visible=False, axis="y")
        _draw_bounds(axes, _times(results, m)[1])


def _share(fraction: Measurement) -> str:
    """An overlap fraction as a label."""
    share = figures.minus(f"{fraction.summary.median:.2f}")
    if fraction.remark:  # only of a fraction that cannot be one
        return say("overlap {share}, wrong", share=share)
    return say("overlap {share}", share=share)


def _draw_bounds(axes: Axes, parts: list[float]) -> None:
    """Draw the least and the most time that the parts can take together."""
    for bound, label in ((max(parts), say("longer part")), (sum(parts), say("sum"))):
        figures.name_bound(axes, bound, label)


def _draw_timeline(results: Results, m: dict[str, Any], way: str, path: Path) -> None:
    kinds = {
        "compute": say("products at work"),
        "copy": say("copies at work"),
        "upload": say("uploads at work"),
    }
    spans = {
        kind: [
            (span.x, duration)
            for span in results.series("timeline", way, activity=kind)
            for duration in span.values
        ]
        for kind in kinds
    }
    shown = [kind for kind in kinds if spans[kind]]
    with figures.figure(path, figures.WIDTH, 1.0 + 0.6 * len(shown)) as fig:
        axes = fig.add_subplot(xlabel=say("milliseconds since the run began"))
        for row, kind in enumerate(shown):
            axes.broken_barh(
                spans[kind],
                (row - 0.36, 0.72),
                facecolor=figures.COLOURS[row],
                hatch=figures.VIRTUAL_HATCH if m["device_kind"] == "cpu-virtual" else None,
                edgecolor=figures.PAPER,
                linewidth=0.5,
            )
        axes.set_yticks(range(len(shown)), [kinds[kind] for kind in shown])
        axes.set_title(say("One run: {way}", way=ways()[way]))
        axes.set_ylim(len(shown) - 0.5, -0.5)
        axes.grid(visible=False, axis="y")


def _draw_gradients(results: Results, m: dict[str, Any], path: Path) -> None:
    params = [
        results.series("gradient ready", name)[0] for name in results.variants("gradient ready")
    ]
    by_time = sorted(params, key=lambda found: found.summary.median)
    with figures.figure(path, figures.WIDTH, 0.9 + 0.3 * len(params)) as fig:
        axes = fig.add_subplot(xlabel=say("milliseconds since the backward pass began"))
        for i, found in enumerate(by_time):
            virtual = m["device_kind"] == "cpu-virtual"
            figures.bar_with_samples(axes, i, found.values, figures.COLOURS[0], virtual)
            axes.annotate(
                f"{found.summary.median:.2g}",
                (max(found.values), i),
                (6, 0),
                textcoords="offset points",
                va="center",
            )
        axes.set_yticks(range(len(by_time)), [found.variant for found in by_time])
        axes.set_ylim(len(by_time) - 0.4, -0.6)
        axes.set_xlim(0, 1.12 * max(max(found.values) for found in by_time))
        axes.grid(visible=False, axis="y")
