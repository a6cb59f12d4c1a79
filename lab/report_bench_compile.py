"""The report's section on compilers and interpreters (13.1)."""

from pathlib import Path
from typing import Any

import numpy as np

from lab import figures, report_bench, symbolic
from lab.curves import key
from lab.measurements import Results
from lab.page import Figure, Section, Table, TryThis
from lab.report_bench import beside_the_book, curve_of, ratio, speedup_curve, verdict
from lab.words import say

INFERENCE, SCRIPT = "eager, inference mode", "TorchScript (deprecated)"  # as lab.compiled, which needs torch


def section(folder: Path, drawings: Path) -> Section:
    """Draw the figures of `folder` (reports/bench_compile) into `drawings` and return the section."""
    results, m = report_bench.read(folder)
    _draw_speedups(results, drawings / "compile_speedups.svg")
    _draw_first_calls(results, drawings / "first_calls.svg")
    return Section(
        stage="bench_compile",
        title="Compilers: what they gain, and after how many calls",
        book="13.1",
        question="Does compiling a network make it faster, and when has it paid?",
        findings=[*_findings(results, m), report_bench.trust(m), *report_bench.skipped(results)],
        figures=[
            Figure(
                "compile_speedups",
                "Speed of each form of the MLP against eager inference, by batch size.",
                "Above 1 a form is faster than eager without gradients; bands are 99 % intervals of paired"
                " rounds. All forms compute the same outputs.",
            ),
            Figure(
                "first_calls",
                "Time of each of the first calls after a form was built.",
                "A compiler works during the first call: the notes time 1000 calls from the first on, so part of"
                " what they compare is compiling.",
            ),
        ],
        tables=[_forms(results, m), _beside(results, m)],
        try_this=TryThis("bench_compile.batch_sizes", "[1, 8, 64, 512]", say("see where each form stops paying")),
    )


def _findings(results: Results, m: dict[str, Any]) -> list[str]:
    compared = [name for name in results.arms("call") if f"{key(name)}_speedup" in m and name != "eager"]
    best = max(compared, key=lambda name: m[f"{key(name)}_speedup_low"])
    sentences = [
        (
            f"TorchScript as the notes time it, with gradients on, is {verdict(m, 'book_torchscript_over_eager')}"
            f" eager at batch 1 here: {ratio(m, 'book_torchscript_over_eager')}. The book's text says that"
            " compiling has been proved faster; its own printed times say slower (2.14 s before, 4.05 s after)."
        ),
        (
            f"The best form at batch 1 is {best}, {ratio(m, f'{key(best)}_speedup')} against eager without"
            f" gradients; it pays after {_calls(m[f'{key(best)}_break_even_calls'])}."
        ),
    ]
    if "torchcompile_build_s" in m:
        sentences.append(
            f"torch.compile takes {_seconds(m, 'torchcompile_build_s')} until its first result, and at batch 1 is"
            f" then {verdict(m, 'torchcompile_speedup')} eager without gradients:"
            f" {ratio(m, 'torchcompile_speedup')}."
        )
    return [*sentences, _program(results, m)]


def _program(results: Results, m: dict[str, Any]) -> str:
    def left(name: str) -> str:
        found = results.one("instructions", name)
        return f"{found.values[0]:.0f} {found.unit}" if found else "–"

    return (
        f"Seen whole, the notes' program is “{symbolic.fold(symbolic.PROGRAM)}”: {left('compiled once')} of"
        f" bytecode become {left('folded first')} (torch.fx sees {left('FX graph')}), and it runs"
        f" {ratio(m, 'folded_program_speedup')} as fast as parsed and run each time. `exec` of a string alone"
        " gains nothing; knowing the whole program does."
    )


def _calls(count: object) -> str:
    return f"{count:,} calls" if isinstance(count, int) else "no number of calls"


def _seconds(m: dict[str, Any], name: str) -> str:
    return f"{m[name]:.3g} s" if name in m else "–"


def _forms(results: Results, m: dict[str, Any]) -> Table:
    rows = []
    for name in results.arms("call"):
        prefix = key(name)
        size, load = results.one("saved_size", name), results.one("saved_load", name)
        rows.append([
            name,
            f"{m[f'{prefix}_call_us']:.1f} ({m[f'{prefix}_call_us_iqr']:.1f})",
            ratio(m, f"{prefix}_speedup") if f"{prefix}_speedup" in m else "1",
            _seconds(m, f"{prefix}_build_s"),
            _calls(m[f"{prefix}_break_even_calls"]) if f"{prefix}_break_even_calls" in m else "–",
            f"{size.values[0]:,.0f} KiB, {load.summary.median:.1f} ms" if size and load else "–",
        ])  # fmt: skip
    weights, load = results.one("saved_size", "weights alone"), results.one("saved_load", "weights alone")
    if weights and load:
        saved = f"{weights.values[0]:,.0f} KiB, {load.summary.median:.1f} ms"
        rows.append(["weights alone", "–", "–", "–", "–", saved])
    return Table(
        ["form", "µs per call, batch 1 (IQR)", "speed against eager inference", "to build, first call included",
         "pays after", "file, time to load"],
        rows,
        f"Outputs equal to eager's after reloading in a new process: {m['forms_equal_eager']}. torch.compile keeps"
        " no file; AOTInductor's package is the form of it that can be deployed.",
    )  # fmt: skip


def _beside(results: Results, m: dict[str, Any]) -> Table:
    size = results.one("saved_size", SCRIPT)
    eager, script = m["eager_call_us"], m.get(f"{key(SCRIPT)}_call_us")
    return beside_the_book([
        ["A1, A2: the sum of 1, 2, 3, 4, called and as a program", "10", f"{symbolic.run(symbolic.PROGRAM)}",
         "no difference; folded beforehand it is the same"],
        ["A3, A4: outputs unchanged by compiling", "yes", m["forms_equal_eager"],
         "compared here, at every batch size and after reloading"],
        ["A6: 1000 calls, eager", "2.1447 s (zh 1.5425 s)", f"{eager / 1e3:.4f} s",
         "another processor; medians after warm-up"],
        ["A6: 1000 calls, TorchScript", "4.0545 s (zh 1.5853 s)", f"{script / 1e3:.4f} s" if script else "skipped",
         "the book's timed calls include the ones in which TorchScript profiles and compiles"],
        ["A7: saved file", "651 K", f"{size.values[0]:,.0f} KiB" if size else "skipped",
         "the same format; weights alone are 642.5 KiB"],
    ])  # fmt: skip


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
        axes.set_ylim(min(c.low.min() for c in curves) / 1.1, max(c.high.max() for c in curves) * 1.1)
        figures.plain_ticks(axes.yaxis)
        axes.axhline(1, color=figures.FAINT, linewidth=1)
        figures.draw_curves(axes, curves)


def _draw_first_calls(results: Results, path: Path) -> None:
    with figures.figure(path, 9, 4) as fig:
        axes = fig.add_subplot(xlabel="call", yscale="log")
        axes.set_title("Milliseconds of each call after building, batch 1")
        series = {n: results.series("first_calls", n) for n in results.arms("first_calls") if n != INFERENCE}
        last = max(m.x for found in series.values() for m in found)
        axes.set_xticks(np.unique(np.linspace(1, last, 8).round()))
        figures.draw_curves(axes, [curve_of(found, name, 1e-3) for name, found in series.items()])
