"""The report's section on compilers and interpreters (13.1)."""

from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from lab.report import benchmarks, figures
from lab.report.benchmarks import beside_the_book, curve_of, ratio, speedup_curve, verdict
from lab.report.language import say
from lab.report.page import Figure, Section, Table, TryThis
from lab.results.curves import key
from lab.results.measurements import Results
from stages.bench_compile import program_text

INFERENCE, SCRIPT = (
    "eager, inference mode",
    "TorchScript (deprecated)",
)  # as stages.bench_compile.compiled, which needs torch


def section(folder: Path) -> Section:
    """Return the section of `folder` (reports/bench_compile)."""
    results, m = benchmarks.read(folder)
    return Section(
        stage="bench_compile",
        title=say("Compilers: what they gain, and after how many calls"),
        book="13.1",
        question=say("Does compiling a network make it faster, and when has it paid?"),
        findings=[*_findings(results, m), benchmarks.trust(m), *benchmarks.skipped(results)],
        figures=[
            Figure(
                "compile_speedups",
                say("Speed of each form of the MLP against eager inference, by batch size."),
                say(
                    "Above 1 a form is faster than eager without gradients; bands are 99 %"
                    " intervals of paired"
                    " rounds. All forms compute the same outputs."
                ),
                partial(_draw_speedups, results),
            ),
            Figure(
                "first_calls",
                say("Time of each of the first calls after a form was built."),
                say(
                    "A compiler works during the first call: the notes time 1000 calls from the"
                    " first on, so part"
                    " of what they compare is compiling."
                ),
                partial(_draw_first_calls, results),
            ),
        ],
        tables=[_forms(results, m), _beside(results, m)],
        try_this=TryThis(
            "bench_compile.batch_sizes", "[1, 8, 64, 512]", say("see where each form stops paying")
        ),
    )


def _findings(results: Results, m: dict[str, Any]) -> list[str]:
    compared = [
        name for name in results.arms("call") if f"{key(name)}_speedup" in m and name != "eager"
    ]
    best = max(compared, key=lambda name: m[f"{key(name)}_speedup_low"])
    sentences = [
        say(
            "TorchScript as the notes time it, with gradients on, is {verdict} eager at batch 1"
            " here: {ratio}. The"
            " book's text says that compiling has been proved faster; its own printed times say"
            " slower (2.14 s"
            " before, 4.05 s after).",
            verdict=verdict(m, "book_torchscript_over_eager"),
            ratio=ratio(m, "book_torchscript_over_eager"),
        ),
        say(
            "The best form at batch 1 is {form}, {ratio} against eager without gradients; it pays"
            " after {calls}.",
            form=best,
            ratio=ratio(m, f"{key(best)}_speedup"),
            calls=_calls(m[f"{key(best)}_break_even_calls"]),
        ),
    ]
    if "torchcompile_build_s" in m:
        sentences.append(
            say(
                "torch.compile takes {build} until its first result, and at batch 1 is then"
                " {verdict} eager without"
                " gradients: {ratio}.",
                build=_seconds(m, "torchcompile_build_s"),
                verdict=verdict(m, "torchcompile_speedup"),
                ratio=ratio(m, "torchcompile_speedup"),
            )
        )
    return [*sentences, _program(results, m)]


def _program(results: Results, m: dict[str, Any]) -> str:
    def left(name: str) -> str:
        found = results.one("instructions", name)
        return f"{found.values[0]:.0f}" if found else "–"

    return say(
        "Seen whole, the notes' program is “{program}”: {before} instructions of bytecode become"
        " {after}"
        " instructions (torch.fx sees {operations} operations), and it runs {ratio} as fast as"
        " parsed and run each"
        " time. `exec` of a string alone gains nothing; knowing the whole program does.",
        program=program_text.fold(program_text.PROGRAM),
        before=left("compiled once"),
        after=left("folded first"),
        operations=left("FX graph"),
        ratio=ratio(m, "folded_program_speedup"),
    )


def _calls(count: object) -> str:
    return (
        say("{count:,} calls", count=count) if isinstance(count, int) else say("no number of calls")
    )


def _seconds(m: dict[str, Any], name: str) -> str:
    return f"{m[name]:.3g} s" if name in m else "–"


def _equal(m: dict[str, Any]) -> str:
    return say("yes") if m["forms_equal_eager"] == "yes" else say("no")


def _forms(results: Results, m: dict[str, Any]) -> Table:
    rows = []
    for name in results.arms("call"):
        prefix = key(name)
        size, load = results.one("saved_size", name), results.one("saved_load", name)
        rows.append(
            [
                name,
                f"{m[f'{prefix}_call_us']:.1f} ({m[f'{prefix}_call_us_iqr']:.1f})",
                ratio(m, f"{prefix}_speedup") if f"{prefix}_speedup" in m else "1",
                _seconds(m, f"{prefix}_build_s"),
                _calls(m[f"{prefix}_break_even_calls"])
                if f"{prefix}_break_even_calls" in m
                else "–",
                f"{size.values[0]:,.0f} KiB, {load.summary.median:.1f} ms"
                if size and load
                else "–",
            ]
        )
    weights, load = (
        results.one("saved_size", "weights alone"),
        results.one("saved_load", "weights alone"),
    )
    if weights and load:
        saved = f"{weights.values[0]:,.0f} KiB, {load.summary.median:.1f} ms"
        rows.append([say("weights alone"), "–", "–", "–", "–", saved])
    return Table(
        [
            say("form"),
            say("µs per call, batch 1 (IQR)"),
            say("speed against eager inference"),
            say("to build, first call included"),
            say("pays after"),
            say("file, time to load"),
        ],
        rows,
        say(
            "Outputs equal to eager's after reloading in a new process: {equal}. torch.compile"
            " keeps no file;"
            " AOTInductor's package is the form of it that can be deployed.",
            equal=_equal(m),
        ),
    )


def _beside(results: Results, m: dict[str, Any]) -> Table:
    def both_editions(english: str, chinese: str) -> str:
        return say("{english} (zh {chinese})", english=english, chinese=chinese)

    size = results.one("saved_size", SCRIPT)
    eager, script = m["eager_call_us"], m.get(f"{key(SCRIPT)}_call_us")
    return beside_the_book(
        [
            [
                say("A1, A2: the sum of 1, 2, 3, 4, called and as a program"),
                "10",
                f"{program_text.run(program_text.PROGRAM)}",
                say("no difference; folded beforehand it is the same"),
            ],
            [
                say("A3, A4: outputs unchanged by compiling"),
                say("yes"),
                _equal(m),
                say("compared here, at every batch size and after reloading"),
            ],
            [
                say("A6: 1000 calls, eager"),
                both_editions("2.1447 s", "1.5425 s"),
                f"{eager / 1e3:.4f} s",
                say("another processor; medians after warm-up"),
            ],
            [
                say("A6: 1000 calls, TorchScript"),
                both_editions("4.0545 s", "1.5853 s"),
                f"{script / 1e3:.4f} s" if script else say("skipped"),
                say(
                    "the book's timed calls include the ones in which TorchScript profiles and"
                    " compiles"
                ),
            ],
            [
                say("A7: saved file"),
                "651 K",
                f"{size.values[0]:,.0f} KiB" if size else say("skipped"),
                say("the same format; weights alone are 642.5 KiB"),
            ],
        ]
    )


def _draw_speedups(results: Results, path: Path) -> None:
    base = results.series("call", INFERENCE)
    with figures.figure(path, 9, 4) as fig:
        axes = fig.add_subplot(xlabel="batch size", xscale="log", yscale="log")
        axes.set_title("Speed against eager inference (times)")
        curves = [
            speedup_curve(base, results.series("call", name), name)
            for name in results.arms("call")
            if name != INFERENCE
        ]
        sizes = [m.x for m in base]
        axes.set_xticks(sizes, [f"{x:g}" for x in sizes])
        axes.set_ylim(
            min(c.low.min() for c in curves) / 1.1, max(c.high.max() for c in curves) * 1.1
        )
        figures.plain_ticks(axes.yaxis)
        axes.axhline(1, color=figures.FAINT, linewidth=1)
        figures.draw_curves(axes, curves)


def _draw_first_calls(results: Results, path: Path) -> None:
    with figures.figure(path, 9, 4) as fig:
        axes = fig.add_subplot(xlabel="call", yscale="log")
        axes.set_title("Milliseconds of each call after building, batch 1")
        series = {
            n: results.series("first_calls", n)
            for n in results.arms("first_calls")
            if n != INFERENCE
        }
        last = max(m.x for found in series.values() for m in found)
        axes.set_xticks(np.unique(np.linspace(1, last, 8).round()))
        figures.draw_curves(axes, [curve_of(found, name, 1e-3) for name, found in series.items()])
