"""The report's section on computing and copying at once (13.3)."""

from functools import partial
from pathlib import Path
from typing import Any

from lab.report import benchmarks, figures
from lab.report.benchmarks import beside_the_book, ratio, ratio_of
from lab.report.language import say
from lab.report.page import Figure, Section, Table, TryThis
from lab.results.measurements import Results
from stages.bench_overlap import names

# ratios that compare across machines, where times do not
HEADLINES = {names.SPEEDUP: "copying beside computing over in turn"}

# of the times that the book prints (2.0.0, executed in 2022)
BOOK_FRACTION = (0.5010 + 2.3848 - 2.1558) / 0.5010


def section(folder: Path) -> Section:
    """The section of `folder` (reports/bench_overlap)."""
    results, m = benchmarks.read(folder)
    return Section(
        stage="bench_overlap",
        title=say("Computing and copying at the same time"),
        book="13.3",
        question=say(
            "Can results be copied away while the next ones are computed, and what must a program"
            " do for that?"
        ),
        findings=[
            *_findings(results, m),
            _gradients(results),
            *_call(results),
            benchmarks.trust(m),
            *benchmarks.skipped(results),
        ],
        figures=[
            Figure(
                "overlap",
                say("Time of each way to compute and copy, with its overlap fraction."),
                _copied(m)
                + " "
                + say(
                    "Dots are starts of the process. The dashed lines are the bounds: the longer"
                    " part, and the sum."
                ),
                partial(_draw_times, results, m),
            ),
            Figure(
                "overlap_timeline",
                say("What computed and what copied when, as torch's profiler saw it."),
                say(
                    "One run. Bars above each other in time are overlap; bars that take turns are"
                    " none."
                ),
                partial(_draw_timelines, results),
            ),
            Figure(
                "overlap_gradients",
                say("When in LeNet's backward pass the gradient of each parameter is ready."),
                say(
                    "Dots are starts of the process, bars medians. What is ready early can be moved"
                    " while the rest is computed, as training on several devices does."
                ),
                partial(_draw_gradients, results, m),
            ),
        ],
        tables=[_fractions(results), _beside(results, m)],
        try_this=TryThis(
            "bench_overlap.num_results",
            "8",
            say("see what the first product, which nothing overlaps, costs"),
        ),
    )


def _copied(m: dict[str, Any]) -> str:
    if m[names.WORKLOAD] == names.BALANCED:
        return say(
            "As much is copied per result as takes as long as computing it: the only point where"
            " overlap can halve the time."
        )
    return say("The results are copied, as in the notes.")


def _times(results: Results, m: dict[str, Any]) -> tuple[float, list[float]]:
    """Median milliseconds of the best arm, and of its parts."""
    best = m[names.BEST_ARM]
    total, *parts = (
        found.summary.median
        for arm in (best, *names.PARTS[best])
        for found in results.series(names.TIMES, arm)
    )
    return total, parts


def _findings(results: Results, m: dict[str, Any]) -> list[str]:
    total, parts = _times(results, m)
    fraction = ratio_of(m, names.OVERLAP_FRACTION)
    return [
        say(
            "“{arm}” takes {total:.1f} ms where the parts take {both:.1f} ms together and the"
            " longer one {longer:.1f} ms: an overlap fraction of {fraction:.2f} ({low:.2f} to"
            " {high:.2f}). Over the same copies behind the computation it gains {ratio}.",
            arm=m[names.BEST_ARM],
            total=total,
            both=sum(parts),
            longer=max(parts),
            fraction=fraction.median,
            low=fraction.low,
            high=fraction.high,
            ratio=ratio(m, names.SPEEDUP),
        ),
        say(
            "The times printed in the book (0.5010 s + 2.3848 s, together 2.1558 s) have the"
            " fraction {fraction:.2f}, and 1 is the most there can be: they compare pageable"
            " memory with the pinned memory that `non_blocking=True` allocates. On one stream, as"
            " the notes do it, nothing can overlap.",
            fraction=BOOK_FRACTION,
        ),
    ]


def _gradients(results: Results) -> str:
    first, last = (
        found
        for arm in (names.FIRST_READY, names.LAST_READY)
        for found in results.series(names.BACKWARD, arm)
    )
    return say(
        "In LeNet's backward pass over {images:.0f} images the first gradient is ready after"
        " {first:.2f} ms and the last after {last:.1f} ms.",
        images=first.x,
        first=first.summary.median,
        last=last.summary.median,
    )


def _call(results: Results) -> list[str]:
    returns = results.one(names.CALL, names.RETURNS)
    arrives = results.one(names.CALL, names.ARRIVES)
    if not returns or not arrives:
        return []
    return [
        say(
            "The notes' call with `non_blocking=True` returns after {returns:.1f} ms; the copies"
            " are there after {arrives:.1f} ms.",
            returns=returns.summary.median,
            arrives=arrives.summary.median,
        )
    ]


def _fractions(results: Results) -> Table:
    rows = []
    for name in results.arms(names.OVERLAP):
        fraction, total = results.one(names.OVERLAP, name), results.one(names.TIMES, name)
        if fraction:
            took = f"{total.summary.median:.2f} ({total.summary.iqr:.2f})" if total else "–"
            share = f"{fraction.summary.median:.3f} ({fraction.summary.iqr:.3f})"
            wrong = say("wrong: outside [0, 1], so this is no overlap")  # a fraction's only remark
            rows.append([name, took, share, wrong if fraction.remark else say("possible")])
    return Table(
        [say("way"), say("ms (IQR)"), say("overlap fraction (IQR)"), say("verdict")],
        rows,
        say(
            "The fraction is (t1 + t2 - T) / min(t1, t2) of the same start; it is marked wrong"
            " where an interval that holds its median with 99 % lies outside [0, 1]."
        ),
    )


def _beside(results: Results, m: dict[str, Any]) -> Table:
    [compute] = results.series(names.TIMES, names.COMPUTE)
    copying = (
        names.PAGEABLE_COPIES
        if names.PAGEABLE_COPIES in results.arms(names.TIMES)
        else names.COPIES
    )
    [copies], [rate] = (results.series(demo, copying) for demo in (names.TIMES, names.BANDWIDTH))
    total, _ = _times(results, m)
    return beside_the_book(
        [
            [
                say("C4: compute"),
                "0.4656 s",
                f"{compute.summary.median / 1e3:.4f} s",
                say("another size and device"),
            ],
            [
                say("C4: copy to the host"),
                "2.3125 s (1.4 GB/s)",
                f"{copies.summary.median / 1e3:.4f} s ({rate.summary.median:.1f} GB/s)",
                say("the book copies 3.2 GB into fresh pageable memory"),
            ],
            [
                say("C5: both"),
                "1.6907 s",
                f"{total / 1e3:.4f} s",
                say("there one stream, here really at once"),
            ],
        ]
    )


def _draw_times(results: Results, m: dict[str, Any], path: Path) -> None:
    timed = results.arms(names.TIMES)
    arms = [n for n in timed if n in names.ALONE] + [n for n in timed if n in names.PARTS]
    _, parts = _times(results, m)
    with figures.figure(path, 10, 1.3 + 0.45 * len(arms)) as fig:
        axes = fig.add_subplot(xlabel="milliseconds (dots: starts, bar: median)")
        for i, name in enumerate(arms):
            found, fraction = results.one(names.TIMES, name), results.one(names.OVERLAP, name)
            if not found:
                continue
            colour = figures.COLOURS[1 if fraction else 0]
            figures.bar_with_samples(
                axes, i, found.values, colour, m["device_kind"] == "cpu-virtual"
            )
            if fraction:
                text = f"overlap {fraction.summary.median:.2f}{' WRONG' if fraction.remark else ''}"
                axes.annotate(
                    text, (max(found.values), i), (8, 0), textcoords="offset points", va="center"
                )
        for bound, label in ((max(parts), "longer part"), (sum(parts), "sum")):
            axes.axvline(bound, color=figures.FAINT, linestyle="--", linewidth=1)
            axes.annotate(
                label, (bound, -0.7), (3, 0), textcoords="offset points", color=figures.FAINT
            )
        axes.set_yticks(range(len(arms)), arms)
        longest = max(max(one.values) for n in arms if (one := results.one(names.TIMES, n)))
        axes.set(xlim=(0, longest * 1.3), ylim=(len(arms) - 0.4, -1))
        axes.grid(visible=False, axis="y")


def _draw_timelines(results: Results, path: Path) -> None:
    timelines = [m.demo for m in results.measurements if m.demo.startswith(names.TIMELINE)]
    demos = list(dict.fromkeys(timelines))
    heights = {names.COMPUTING: 0, names.COPYING: 1, names.UPLOADING: 2}
    with figures.figure(path, 10, 0.9 + 1.2 * len(demos)) as fig:
        for axes, demo in zip(fig.subplots(len(demos), 1, squeeze=False)[:, 0], demos, strict=True):
            spans = [
                (m.arm.split()[1], m.x, m.values[0]) for m in results.measurements if m.demo == demo
            ]
            for what, y in heights.items():
                bars = [(start, duration) for kind, start, duration in spans if kind == what]
                axes.broken_barh(bars, (y - 0.38, 0.76), color=figures.COLOURS[y], edgecolor="none")
            shown = [what for what in heights if any(kind == what for kind, _, _ in spans)]
            axes.set_yticks([heights[what] for what in shown], shown)
            axes.set_title(demo.removeprefix(names.TIMELINE))
            axes.set_ylim(len(shown) - 0.5, -0.5)
            axes.grid(visible=False, axis="y")
        axes.set_xlabel("milliseconds")


def _draw_gradients(results: Results, m: dict[str, Any], path: Path) -> None:
    params = results.arms(names.GRADIENTS)
    with figures.figure(path, 10, 1.2 + 0.35 * len(params)) as fig:
        axes = fig.add_subplot(xlabel="milliseconds since the backward pass began")
        for i, name in enumerate(params):
            [found] = results.series(names.GRADIENTS, name)
            figures.bar_with_samples(
                axes, i, found.values, figures.COLOURS[0], m["device_kind"] == "cpu-virtual"
            )
        axes.set_yticks(range(len(params)), params)
        axes.set_ylim(len(params) - 0.4, -0.6)
        axes.grid(visible=False, axis="y")
