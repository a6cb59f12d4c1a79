"""The report's section on compilers and interpreters (13.1)."""

from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from lab.report import benchmarks, figures
from lab.report.benchmarks import (
    beside_the_book,
    curve_of,
    ratio,
    ratio_text,
    speedup_curve,
    verdict,
    verdict_text,
)
from lab.report.language import say, translation
from lab.report.page import Figure, Section, Table, TryThis
from lab.results.measurements import Results
from lab.results.stats import Ratio, median_level, speedup
from stages.bench_compile import names
from stages.bench_compile.names import CALL, EAGER, INFERENCE, SCRIPT, WEIGHTS

# ratios that compare across machines, where times do not
HEADLINES = {
    names.SCRIPT_SPEEDUP: "TorchScript over eager",
    names.COMPILE_SPEEDUP: "torch.compile over eager",
}


def section(folder: Path) -> Section:
    """The section of `folder` (reports/bench_compile)."""
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
                    "Above 1 a form is faster than eager without gradients; bands hold the median"
                    " over {starts} start(s) with {level:.1f} %. All forms compute the same"
                    " outputs: {equal}.",
                    starts=m["starts"],
                    level=100 * median_level(m["starts"]),
                    equal=_same(m),
                ),
                partial(_draw_speedups, results),
            ),
            Figure(
                "first_calls",
                say("Time of each of the first calls after a form was built."),
                say(
                    "A compiler works during the first call: the notes time 1000 calls from the"
                    " first on, so part of what they compare is compiling. One process, started"
                    " with an empty cache; TorchScript's first call is its first in the process."
                ),
                partial(_draw_first_calls, results),
            ),
        ],
        tables=[_forms(results, m), _beside(results, m)],
        try_this=TryThis(
            "bench_compile.batch_sizes", "[1, 8, 64, 512]", say("see where each form stops paying")
        ),
    )


def over_inference(results: Results, form: str) -> Ratio:
    """A form's speed-up over eager without gradients, at the smallest batch."""
    base, call = results.one(CALL, INFERENCE), results.one(CALL, form)
    assert base and call  # noqa: S101 - asked of measured forms only, and eager always is
    return speedup(base.values, call.values)


def break_even_calls(results: Results, form: str) -> int | None:
    """After how many calls what a form gains has made up for building it; None if it never does."""
    base, call = results.one(CALL, INFERENCE), results.one(CALL, form)
    built = results.one(names.BUILD, form)
    if not (base and call and built) or over_inference(results, form).verdict != "faster":
        return None
    return round(1e6 * built.values[0] / (base.summary.median - call.summary.median))


def _findings(results: Results, m: dict[str, Any]) -> list[str]:
    # named beforehand: the best by these samples would look better than it is
    ahead = names.AOT if names.AOT in results.arms(CALL) else names.FROZEN
    eager, scripted, first = (
        results.series(names.THOUSAND_CALLS, arm)[0].values
        for arm in (EAGER, SCRIPT, names.FIRST_IN_PROCESS)
    )
    sentences = [
        say(
            "TorchScript, gradients on as in the notes, is {verdict} eager at batch 1 here:"
            " {ratio} after warm-up, {thousand} over 1000 calls timed as in the notes, {cold} if"
            " its first call in the process counts, too. The book's text says that compiling has"
            " been proved faster; its own printed times say slower (2.14 s before, 4.05 s after).",
            verdict=verdict(m, names.SCRIPT_SPEEDUP),
            ratio=ratio(m, names.SCRIPT_SPEEDUP),
            thousand=ratio_text(speedup(eager, scripted)),
            cold=ratio_text(speedup(eager, [a + b for a, b in zip(scripted, first, strict=True)])),
        ),
        say(
            "{form}, compiled ahead of time, is {verdict} eager without gradients at batch 1:"
            " {ratio}; it pays after {calls}.",
            form=translation(ahead),
            verdict=verdict_text(over_inference(results, ahead)),
            ratio=ratio_text(over_inference(results, ahead)),
            calls=_calls(break_even_calls(results, ahead)),
        ),
    ]
    if names.COMPILE_BUILD_S in m:
        sentences.append(
            say(
                "torch.compile takes {build} until its first result, and at batch 1 is then"
                " {verdict} eager without gradients: {ratio}.",
                build=_seconds(m[names.COMPILE_BUILD_S]),
                verdict=verdict(m, names.COMPILE_SPEEDUP),
                ratio=ratio(m, names.COMPILE_SPEEDUP),
            )
        )
    return [*sentences, *_python(results), _program(results, m)]


def _python(results: Results) -> list[str]:
    """What Python takes of a call, and what its one thread holds back."""
    shares = results.series(names.BACK_END, EAGER)
    sentences = [
        say(
            "Of an eager call the back end takes {small:.0f} % at batch {smallest:.0f} and"
            " {large:.0f} % at batch {largest:.0f}, as torch's profiler sees it; the rest is"
            " Python, which hands over {count} operations for each call.",
            small=shares[0].summary.median,
            smallest=shares[0].x,
            large=shares[-1].summary.median,
            largest=shares[-1].x,
            count=_number(results, names.HANDED_OVER, EAGER),
        )
    ]
    if results.arms(names.THREADS):
        gains = {
            arm: ratio_text(speedup(one.values, two.values))
            for arm in (EAGER, SCRIPT)
            for one, two in [results.series(names.THREADS, arm)]
        }
        sentences.append(
            say(
                "Two Python threads make {eager} the calls of one with the eager network, and"
                " {script} with TorchScript, which lets go of the interpreter.",
                eager=gains[EAGER],
                script=gains[SCRIPT],
            )
        )
    return sentences


def _program(results: Results, m: dict[str, Any]) -> str:
    return say(
        "Seen whole, the notes' program is “{program}”: {before} instructions of bytecode become"
        " {after} instructions (torch.fx sees {operations} operations), and it runs {ratio} as"
        " fast as parsed and run each time. `exec` of a string alone gains nothing; knowing the"
        " whole program does.",
        program=f"print({_number(results, names.PRINTED, names.FOLDED)})",
        before=_number(results, names.INSTRUCTIONS, names.COMPILED_ONCE),
        after=_number(results, names.INSTRUCTIONS, names.FOLDED),
        operations=_number(results, names.INSTRUCTIONS, names.FX_GRAPH),
        ratio=ratio(m, names.FOLDED_SPEEDUP),
    )


def _number(results: Results, demo: str, arm: str) -> str:
    found = results.one(demo, arm)
    return f"{found.values[0]:.0f}" if found else "–"


def _calls(count: int | None) -> str:
    return say("no number of calls") if count is None else say("{count:,} calls", count=count)


def _seconds(seconds: float) -> str:
    return f"{seconds:.3g} s"


def _same(m: dict[str, Any]) -> str:
    return say("yes") if m[names.SAME_OUTPUTS] == "yes" else say("no")


def _forms(results: Results, m: dict[str, Any]) -> Table:
    rows = []
    for form in results.arms(CALL):
        call, built = results.one(CALL, form), results.one(names.BUILD, form)
        assert call  # noqa: S101 - `arms` lists what was measured
        eager = form in (EAGER, INFERENCE)
        rows.append(
            [
                translation(form),
                f"{call.summary.median:.1f} ({call.summary.iqr:.1f})",
                "1" if form == INFERENCE else ratio_text(over_inference(results, form)),
                "–" if eager or not built else _seconds(built.values[0]),
                "–" if eager else _calls(break_even_calls(results, form)),
                _file(results, form),
            ]
        )
    rows += [
        [translation(saved), "–", "–", "–", "–", _file(results, saved)]
        for saved in (names.EXPORT, WEIGHTS)
    ]
    return Table(
        [
            say("form"),
            say("µs per call, batch 1 (IQR over starts)"),
            say("speed against eager inference"),
            say("to build, first call included"),
            say("pays after"),
            say("file, time to load"),
        ],
        rows,
        say(
            "Outputs equal to eager's after reloading in a new process: {equal}. torch.compile"
            " keeps no file; AOTInductor's package is the form of it that can be deployed. Building"
            " is timed once; torch.export compiles nothing.",
            equal=_same(m),
        ),
    )


def _file(results: Results, form: str) -> str:
    size, load = results.one(names.SAVED_SIZE, form), results.one(names.SAVED_LOAD, form)
    return f"{size.values[0]:,.0f} KiB, {load.summary.median:.1f} ms" if size and load else "–"


def _beside(results: Results, m: dict[str, Any]) -> Table:
    def both_editions(english: str, chinese: str) -> str:
        return say("{english} (zh {chinese})", english=english, chinese=chinese)

    def thousand(form: str) -> str:
        calls = results.one(names.THOUSAND_CALLS, form)
        return f"{calls.summary.median / 1e3:.4f} s" if calls else say("skipped")

    size = results.one(names.SAVED_SIZE, SCRIPT)
    return beside_the_book(
        [
            [
                say("A1, A2: the sum of 1, 2, 3, 4, called and as a program"),
                "10",
                _number(results, names.PRINTED, names.TEXT),
                say("no difference; folded beforehand it is the same"),
            ],
            [
                say("A3, A4: outputs unchanged by compiling"),
                say("yes"),
                _same(m),
                say("compared here, at every batch size and after reloading"),
            ],
            [
                say("A6: 1000 calls, eager"),
                both_editions("2.1447 s", "1.5425 s"),
                thousand(EAGER),
                say("another processor; the median over starts"),
            ],
            [
                say("A6: 1000 calls, TorchScript"),
                both_editions("4.0545 s", "1.5853 s"),
                thousand(SCRIPT),
                say("both include the calls in which TorchScript profiles and compiles"),
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
    base = results.series(CALL, INFERENCE)
    with figures.figure(path, 9, 4) as fig:
        axes = fig.add_subplot(xlabel="batch size", xscale="log", yscale="log")
        axes.set_title("Speed against eager inference (times)")
        curves = [
            speedup_curve(base, results.series(CALL, name), name)
            for name in results.arms(CALL)
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
            n: results.series(names.FIRST_CALLS, n)
            for n in results.arms(names.FIRST_CALLS)
            if n != INFERENCE
        }
        last = max(m.x for found in series.values() for m in found)
        axes.set_xticks(np.unique(np.linspace(1, last, 8).round()))
        figures.draw_curves(axes, [curve_of(found, name, 1e-3) for name, found in series.items()])
