"""The report's section on computing and copying at once (13.3)."""

from functools import partial
from pathlib import Path
from typing import Any

from lab.report import benchmarks, figures
from lab.report.benchmarks import beside_the_book, ratio
from lab.report.language import say
from lab.report.page import Figure, Section, Table, TryThis
from lab.results.curves import key
from lab.results.measurements import Results

COMPUTE, COPIES = "compute alone", "copies alone"
# of the times that the book prints (2.0.0, executed in 2022)
BOOK_FRACTION = (0.5010 + 2.3848 - 2.1558) / 0.5010
TIMELINE = "timeline, "


def section(folder: Path) -> Section:
    """Return the section of `folder` (reports/bench_overlap)."""
    results, m = benchmarks.read(folder)
    return Section(
        stage="bench_overlap",
        title=say("Computing and copying at the same time"),
        book="13.3",
        question=say(
            "Can results be copied away while the next ones are computed, and what must a program"
            " do for that?"
        ),
        findings=[*_findings(m), benchmarks.trust(m), *benchmarks.skipped(results)],
        figures=[
            Figure(
                "overlap",
                say("Time of each way to compute and copy, with its overlap fraction."),
                say(
                    "As much is copied per result as takes as long as computing it: the only point"
                    " where overlap"
                    " can halve the time. The dashed lines are the bounds: the longer part, and"
                    " the sum."
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
        ],
        tables=[_fractions(results), _beside(results, m)],
        try_this=TryThis(
            "bench_overlap.num_results",
            "8",
            say("see what the first product, which nothing overlaps, costs"),
        ),
    )


def _findings(m: dict[str, Any]) -> list[str]:
    return [
        say(
            "“{way}” takes {total:.1f} ms where the parts take {both:.1f} ms together and the"
            " longer one"
            " {longer:.1f} ms: an overlap fraction of {fraction:.2f} ({low:.2f} to {high:.2f}) and"
            " a gain of"
            " {ratio}.",
            way=m["best_way"],
            total=m["total_ms"],
            both=m["sum_ms"],
            longer=m["longer_ms"],
            fraction=m["overlap_fraction"],
            low=m["overlap_fraction_low"],
            high=m["overlap_fraction_high"],
            ratio=ratio(m, "speedup"),
        ),
        say(
            "The times printed in the book (0.5010 s + 2.3848 s, together 2.1558 s) have the"
            " fraction"
            " {fraction:.2f}, and 1 is the most there can be: they compare pageable memory with"
            " the pinned memory"
            " that `non_blocking=True` allocates. On one stream, as the notes do it, nothing can"
            " overlap.",
            fraction=BOOK_FRACTION,
        ),
    ]


def _fractions(results: Results) -> Table:
    rows = []
    for name in results.arms("overlap"):
        fraction, total = results.one("overlap", name), results.one("seconds", name)
        if fraction:
            took = f"{total.summary.median:.2f} ({total.summary.iqr:.2f})" if total else "–"
            wrong = say(
                "wrong: outside [0, 1], so this is no overlap"
            )  # the only remark that a fraction has
            rows.append(
                [
                    name,
                    took,
                    f"{fraction.summary.median:.3f} ({fraction.summary.iqr:.3f})",
                    wrong if fraction.remark else say("possible"),
                ]
            )
    return Table(
        [say("way"), say("ms (IQR)"), say("overlap fraction (IQR)"), say("verdict")],
        rows,
        say(
            "The fraction is (t1 + t2 - T) / min(t1, t2) of the same round; it is marked wrong"
            " where its 99 %"
            " interval lies outside [0, 1]."
        ),
    )


def _beside(results: Results, m: dict[str, Any]) -> Table:
    compute, copies = (
        results.one("seconds", COMPUTE),
        results.one("seconds", "pageable copies alone"),
    )
    copies = copies or results.one("seconds", COPIES)
    return beside_the_book(
        [
            [
                say("C4: compute"),
                "0.4656 s",
                f"{compute.summary.median / 1e3:.4f} s" if compute else "–",
                say("another size and device"),
            ],
            [
                say("C4: copy to the host"),
                "2.3125 s (1.4 GB/s)",
                f"{copies.summary.median / 1e3:.4f} s ({m[f'{key(copies.arm)}_gb_per_s']:.1f} GB/s)"
                if copies
                else "–",
                say("the book copies 3.2 GB into fresh pageable memory; sizes are balanced here"),
            ],
            [
                say("C5: both"),
                "1.6907 s",
                f"{m['total_ms'] / 1e3:.4f} s",
                say("there one stream, here really at once"),
            ],
        ]
    )


def _draw_times(results: Results, m: dict[str, Any], path: Path) -> None:
    alone = [n for n in results.arms("seconds") if n.endswith("alone")]
    ways = [n for n in results.arms("overlap") if results.one("seconds", n)]
    with figures.figure(path, 10, 1.3 + 0.45 * len(alone + ways)) as fig:
        axes = fig.add_subplot(xlabel="milliseconds (dots: rounds, bar: median)")
        for i, name in enumerate(alone + ways):
            found, fraction = results.one("seconds", name), results.one("overlap", name)
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
        for bound, label in ((m["longer_ms"], "longer part"), (m["sum_ms"], "sum")):
            axes.axvline(bound, color=figures.FAINT, linestyle="--", linewidth=1)
            axes.annotate(
                label, (bound, -0.7), (3, 0), textcoords="offset points", color=figures.FAINT
            )
        axes.set_yticks(range(len(alone + ways)), alone + ways)
        longest = max(max(one.values) for n in alone + ways if (one := results.one("seconds", n)))
        axes.set(xlim=(0, longest * 1.3), ylim=(len(alone + ways) - 0.4, -1))
        axes.grid(visible=False, axis="y")


def _draw_timelines(results: Results, path: Path) -> None:
    demos = list(dict.fromkeys(m.demo for m in results.measurements if m.demo.startswith(TIMELINE)))
    lanes = {"compute": 0, "copy": 1, "upload": 2}
    with figures.figure(path, 10, 0.9 + 1.2 * len(demos)) as fig:
        for axes, demo in zip(fig.subplots(len(demos), 1, squeeze=False)[:, 0], demos, strict=True):
            spans = [
                (m.arm.split()[1], m.x, m.values[0]) for m in results.measurements if m.demo == demo
            ]
            for what, lane in lanes.items():
                bars = [(start, duration) for kind, start, duration in spans if kind == what]
                axes.broken_barh(
                    bars, (lane - 0.38, 0.76), color=figures.COLOURS[lane], edgecolor="none"
                )
            shown = [what for what in lanes if any(kind == what for kind, _, _ in spans)]
            axes.set_yticks([lanes[what] for what in shown], shown)
            axes.set_title(demo.removeprefix(TIMELINE))
            axes.set_ylim(len(shown) - 0.5, -0.5)
            axes.grid(visible=False, axis="y")
        axes.set_xlabel("milliseconds")
