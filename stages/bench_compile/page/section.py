"""The report's section on compilers and interpreters (13.1)."""

import math
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from numpy.typing import NDArray

from lab.report import benchmarks, figures
from lab.report.benchmarks import beside_the_book, ratio, ratio_of, ratio_text, verdict
from lab.report.language import say, superscript
from lab.report.page import Figure, Headline, Section, Table, TryThis
from lab.results.measurements import Results
from lab.results.stats import Ratio, speedup
from stages.bench_compile.measure import names
from stages.bench_compile.measure.names import EAGER, INFERENCE, SCRIPT, WEIGHTS

BOOK_SECONDS = {EAGER: 2.1447, SCRIPT: 4.0545}  # of 1000 calls, in the book's notebook

# ratios that compare across machines, where times do not
HEADLINES = {
    names.SCRIPT_SPEEDUP: "TorchScript over eager",
    names.COMPILE_SPEEDUP: "torch.compile over eager",
}
COLOURS = {  # of a speed-up, by what may be said of it
    "faster": figures.COLOURS[2],
    "slower": figures.COLOURS[1],
    "inconclusive": figures.FAINT,
}
DASHES = ("-", (0, (5, 2)), (0, (1.5, 1.5)), (0, (5, 1.5, 1.5, 1.5)), (0, (8, 3)))  # of the forms
ROOM = 1.15  # times, beside what a logarithmic axis shows


def forms() -> dict[str, str]:
    """The forms as the page calls them."""
    return {
        EAGER: say("eager"),
        INFERENCE: say("eager inference"),
        SCRIPT: say("TorchScript"),
        names.FROZEN: say("frozen TorchScript"),
        names.COMPILE: say("torch.compile"),
        names.GRAPH: say("CUDA graph"),
        names.AOT: say("AOTInductor"),
        names.EXPORT: say("torch.export"),
        WEIGHTS: say("weights alone"),
    }


def section(folder: Path) -> Section:
    """The section of `folder` (reports/bench_compile)."""
    results, m = benchmarks.read(folder)
    return Section(
        stage="bench_compile",
        title=say("Compilers: what they gain, and after how many calls"),
        book="13.1",
        question=say("Does compiling a network make it faster, and when has that paid off?"),
        answer=_answer(results, m),
        headline=_headline(m),
        findings=[*_findings(results, m), *benchmarks.trust(m), *benchmarks.skipped(results)],
        figures=_figures(results, m),
        tables=[_forms(results, m), _beside(results)],
        try_this=TryThis(
            "bench_compile.batch_sizes",
            "[1, 8, 64, 512]",
            say("At which batch size does frozen TorchScript stop being faster than eager?"),
            say(
                "What it saves is a fixed time per call, mostly Python's. A larger batch adds"
                " arithmetic, of which it saves nothing, so the ratio falls towards 1."
            ),
        ),
    )


def eager_like(form: str) -> str:
    """What a form is compared with: eager with gradients, as in the notes, or without."""
    return EAGER if form == SCRIPT else INFERENCE


def over_eager(results: Results, form: str, batch: float | None = None) -> Ratio:
    """A form's speed-up over eager in the same mode, by default at the smallest batch."""
    base, call = (results.one("call", name, batch) for name in (eager_like(form), form))
    assert base and call  # noqa: S101 - asked of measured forms only, and eager always is
    return speedup(base.values, call.values)


def break_even_calls(results: Results, form: str) -> int | None:
    """After how many calls what a form gains has made up for building it; None if it never does."""
    base, call = results.one("call", eager_like(form)), results.one("call", form)
    built = results.one("build", form)
    if not (base and call and built) or over_eager(results, form).verdict != "faster":
        return None
    return round(1e6 * built.values[0] / (base.summary.median - call.summary.median))


def _answer(results: Results, m: dict[str, Any]) -> str:
    calls = break_even_calls(results, SCRIPT)
    if calls is None:
        return say(
            "At batch 1 TorchScript is {ratio} as fast as eager execution: no gain that would pay"
            " for building it.",
            ratio=ratio(m, names.SCRIPT_SPEEDUP),
        )
    return say(
        "At batch 1 TorchScript is {ratio} as fast as eager execution; building it pays off after"
        " {calls}.",
        ratio=ratio(m, names.SCRIPT_SPEEDUP),
        calls=_calls(calls),
    )


def _headline(m: dict[str, Any]) -> Headline:
    found = ratio_of(m, names.SCRIPT_SPEEDUP)
    return Headline(
        say("{median:.3g} times", median=found.median),
        say(
            "{low:.3g} to {high:.3g}, {level:.0f} % of {count} starts",
            low=found.low,
            high=found.high,
            level=100 * found.level,
            count=found.count,
        ),
        say("as fast as eager execution: TorchScript at batch 1, gradients on in both."),
    )


def _findings(results: Results, m: dict[str, Any]) -> list[str]:
    compiled = _compiled(results)
    largest = results.series("call", EAGER)[-1].x
    faster = [f for f in compiled if over_eager(results, f, largest).verdict == "faster"]
    sentences = [
        say(
            "At batch {largest:.0f}, {count} of {all} compiled forms are measurably faster than"
            " eager.",
            largest=largest,
            count=len(faster),
            all=len(compiled),
        )
    ]
    if names.COMPILE_BUILD_S in m:
        sentences.append(
            say(
                "torch.compile takes {build} until its first result and is then {verdict} eager"
                " inference at batch 1: {ratio}.",
                build=_seconds(m[names.COMPILE_BUILD_S]),
                verdict=verdict(m, names.COMPILE_SPEEDUP),
                ratio=ratio(m, names.COMPILE_SPEEDUP),
            )
        )
    return [
        *sentences,
        _back_end(results),
        say(
            "The book's text says that compiling is proved faster; its printed times say slower:"
            " {eager:.2f} s eager, {script:.2f} s compiled.",
            eager=BOOK_SECONDS[EAGER],
            script=BOOK_SECONDS[SCRIPT],
        ),
        _program(results, m),
    ]


def _back_end(results: Results) -> str:
    """What Python leaves of a call to the back end."""
    shares = results.series("back_end", EAGER)
    return say(
        "The back end takes {small:.0f} % of an eager call at batch {smallest:.0f} and {large:.0f}"
        " % at batch {largest:.0f}; the rest is Python.",
        small=shares[0].summary.median,
        smallest=shares[0].x,
        large=shares[-1].summary.median,
        largest=shares[-1].x,
    )


def _program(results: Results, m: dict[str, Any]) -> str:
    return say(
        "Seen whole, the notes' program is “{program}”: {before} bytecode instructions become"
        " {after}; it runs {ratio} as fast as parsed each time.",
        program="print(" + _number(results, "printed", "folded first") + ")",
        before=_number(results, "instructions", "compiled once"),
        after=_number(results, "instructions", "folded first"),
        ratio=ratio(m, names.FOLDED_SPEEDUP),
    )


def _compiled(results: Results) -> list[str]:
    """The measured forms that a compiler made."""
    return [form for form in results.variants("call") if form not in (EAGER, INFERENCE)]


def _number(results: Results, experiment: str, variant: str) -> str:
    found = results.one(experiment, variant)
    assert found, f"{variant} of {experiment} is not among the rows"  # noqa: S101
    return f"{found.values[0]:.0f}"


def _calls(count: int | None) -> str:
    """A number of calls, no more exact than a building that was timed once."""
    if count is None:
        return say("never")
    return say("{count:,.0f} calls", count=float(f"{count:.2g}"))


def _seconds(seconds: float) -> str:
    return f"{seconds:.3g} s"


def _duration(seconds: float) -> str:
    """A time in the unit that suits it."""
    for unit, name in ((1, "s"), (1e-3, "ms")):
        if seconds >= 0.9995 * unit:
            return f"{seconds / unit:.3g} {name}"
    return f"{1e6 * seconds:.3g} µs"


def _same(m: dict[str, Any]) -> str:
    return say("yes") if m[names.SAME_OUTPUTS] == "yes" else say("no")


# --- tables ---


def _forms(results: Results, m: dict[str, Any]) -> Table:
    rows = []
    for form in results.variants("call"):
        call, built = results.one("call", form), results.one("build", form)
        assert call  # noqa: S101 - `variants` lists what was measured
        eager = form in (EAGER, INFERENCE)
        rows.append(
            [
                forms()[form],
                f"{call.summary.median:.1f} ({call.summary.iqr:.1f})",
                "1" if eager else ratio_text(over_eager(results, form)),
                "–" if eager or not built else _seconds(built.values[0]),
                "–" if eager else _calls(break_even_calls(results, form)),
                _file(results, form),
            ]
        )
    rows += [
        [forms()[saved], "–", "–", "–", "–", _file(results, saved)]
        for saved in (names.EXPORT, WEIGHTS)
    ]
    return Table(
        [
            say("form"),
            say("µs per call, batch 1 (IQR over starts)"),
            say("times as fast as eager"),
            say("time to build"),
            say("pays off after"),
            say("file, time to load"),
        ],
        rows,
        say(
            "TorchScript is compared with eager with gradients, as in the notes, the others with"
            " eager inference. Outputs equal to eager's, also after reloading in a new process:"
            " {equal}. Building is timed once and includes the first call; torch.compile keeps no"
            " file.",
            equal=_same(m),
        ),
    )


def _file(results: Results, form: str) -> str:
    size, load = results.one("saved_size", form), results.one("saved_load", form)
    return f"{size.values[0]:,.0f} KiB, {load.summary.median:.1f} ms" if size and load else "–"


def _beside(results: Results) -> Table:
    def both_editions(english: str, chinese: str) -> str:
        return say("{english} (zh {chinese})", english=english, chinese=chinese)

    def thousand(form: str) -> str:
        calls = results.one("thousand_calls", form)
        assert calls, f"{form} is not among the rows"  # noqa: S101
        return f"{calls.summary.median / 1e3:.4f} s"

    return beside_the_book(
        [
            [
                say("1000 calls, eager"),
                both_editions("2.1447 s", "1.5425 s"),
                thousand(EAGER),
                say("another processor; the median over starts"),
            ],
            [
                say("1000 calls, TorchScript"),
                both_editions("4.0545 s", "1.5853 s"),
                thousand(SCRIPT),
                say("both include the calls in which TorchScript profiles and compiles"),
            ],
        ]
    )


# --- figures ---


def _figures(results: Results, m: dict[str, Any]) -> list[Figure]:
    virtual = m["device_kind"] == "cpu-virtual"
    sizes = [call.x for call in results.series("call", EAGER)]
    found = [
        Figure(
            "compile_speedups",
            say("Speed of each compiled form against eager execution, alone and with building."),
            say(
                "Dots are medians, lines their 99 % intervals over starts; green is faster than"
                " eager, orange slower, grey undecided. With building included, in the same"
                " colours, a dot marks where a form has paid off."
            ),
            [
                partial(_draw_speeds, results, sizes[0], virtual),
                partial(_draw_paying_off, results, virtual),
            ],
        )
    ]
    if larger := _larger(sizes):
        found.append(
            Figure(
                "compile_batches",
                say("Speed of each compiled form against eager execution, for larger batches."),
                say(
                    "Read as above: the larger the batch, the more of a call is arithmetic, which"
                    " no form avoids."
                ),
                [partial(_draw_speeds, results, size, virtual) for size in larger],
            )
        )
    return [
        *found,
        Figure(
            "first_calls",
            say("Time of each of the first calls after a form was built."),
            say(
                "The diamond is a form's first call, dots are those after it. Compilers work in"
                " the first calls, which the notes time with the others. One process, started with"
                " an empty cache."
            ),
            [partial(_draw_first_calls, results, virtual)],
        ),
    ]


def _larger(sizes: Sequence[float]) -> list[float]:
    """Of the batch sizes that of the middle and the largest, but not the smallest."""
    middle, largest = sizes[len(sizes) // 2], sizes[-1]
    return [size for size in dict.fromkeys((middle, largest)) if size != sizes[0]]


def _draw_speeds(results: Results, batch: float, virtual: bool, path: Path) -> None:
    """Draw each form's speed-up with its interval; all batches have the same axis."""
    compiled = _compiled(results)
    found = [over_eager(results, form, batch) for form in compiled]
    with figures.figure(path, figures.WIDTH, _height(compiled)) as fig:
        axes = fig.add_subplot(xscale="log", xlim=_limits(results))
        axes.set_title(say("Speed at batch {size:.0f}", size=batch), x=0)
        axes.set_xlabel(say("times as fast as eager"))
        axes.axvline(1, color=figures.INK, linewidth=1)
        for row, speed in enumerate(found):
            _draw_ratio(axes, row, speed)
        _name_rows(axes, compiled)
        figures.plain_ticks(axes.xaxis)
        if virtual:
            figures.say_virtual(fig)


def _height(rows: Sequence[str]) -> float:
    """Inches of a figure with so many rows, and of the one beside it."""
    return 1.4 + 0.35 * len(rows)


def _limits(results: Results) -> tuple[float, float]:
    """From the lowest to the highest end of any form's interval at any batch, and 1."""
    sizes = [call.x for call in results.series("call", EAGER)]
    found = [over_eager(results, form, size) for form in _compiled(results) for size in sizes]
    low, high = min([1, *(r.low for r in found)]), max([1, *(r.high for r in found)])
    return low / ROOM**2, high * ROOM**2  # with room for the numbers


def _draw_ratio(axes: Axes, row: int, found: Ratio) -> None:
    """Draw a median, its interval, and its number on the side away from 1."""
    colour, under = COLOURS[found.verdict], found.high < 1
    axes.plot([found.low, found.high], [row, row], color=colour, linewidth=2.5)
    axes.plot(found.median, row, "o", color=colour, markersize=7)
    axes.annotate(
        f"{found.median:.2f}" if found.median < 10 else f"{found.median:.3g}",
        (found.low if under else found.high, row),
        (-8 if under else 8, 0),
        textcoords="offset points",
        ha="right" if under else "left",
        va="center",
        color=figures.text_colour(colour),
    )


def _name_rows(axes: Axes, rows: Sequence[str]) -> None:
    axes.set_yticks(range(len(rows)), [forms()[form] for form in rows])
    axes.set_ylim(len(rows) - 0.4, -0.6)
    axes.grid(visible=False, axis="y")


def _draw_paying_off(results: Results, virtual: bool, path: Path) -> None:
    """Draw how many times as fast a number of calls is, building included."""
    built = [form for form in _compiled(results) if results.one("build", form)]
    pays = {form: break_even_calls(results, form) for form in built}
    decades = _decades(results, pays)
    calls = np.geomspace(1, 10**decades, 120)
    with figures.figure(path, figures.WIDTH, _height(built)) as fig:
        axes = fig.add_subplot(xscale="log", xlim=(1, calls[-1]))
        axes.set_title(say("Speed, building included, at batch 1"), x=0)
        axes.set(xlabel=say("number of calls"), ylabel=say("times as fast as eager"))
        axes.axhline(1, color=figures.INK, linewidth=1)
        ends = []
        for form, dashes in zip(built, DASHES, strict=False):
            colour = COLOURS[over_eager(results, form).verdict]
            speed = _speed_with_building(results, form, calls)
            axes.plot(calls, speed, color=colour, linestyle=dashes)
            ends.append((forms()[form], float(calls[-1]), float(speed[-1]), colour))
            if (count := pays[form]) is not None:
                axes.plot(count, 1, "o", color=colour, markersize=6)
        axes.set_ylim(0, 1.1 * max(1, *(end[2] for end in ends)))
        exponents = range(0, decades + 1, 2)
        axes.set_xticks([10.0**e for e in exponents], [_power_of_ten(e) for e in exponents])
        axes.minorticks_off()
        figures.label_ends(axes, ends, gap=0.1)
        if virtual:
            figures.say_virtual(fig)


def _decades(results: Results, pays: Mapping[str, int | None]) -> int:
    """Of the calls until all forms have paid off that do, and building hardly shows of any."""
    shown = [1000.0]
    for form, count in pays.items():
        call, built = results.one("call", form), results.one("build", form)
        assert call and built  # noqa: S101 - asked of built forms only
        shown.append(count or 1e6 * built.values[0] / call.summary.median)
    return math.ceil(math.log10(10 * max(shown)))


def _speed_with_building(
    results: Results, form: str, calls: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Times of so many eager calls over those of building a form and calling it."""
    base, call = results.one("call", eager_like(form)), results.one("call", form)
    built = results.one("build", form)
    assert base and call and built  # noqa: S101 - asked of built forms only
    microseconds = 1e6 * built.values[0] + calls * call.summary.median
    speeds: NDArray[np.float64] = calls * base.summary.median / microseconds
    return speeds


def _power_of_ten(exponent: int) -> str:
    return f"{10**exponent:,}" if exponent <= 3 else f"10{superscript(str(exponent))}"


def _draw_first_calls(results: Results, virtual: bool, path: Path) -> None:
    rows = [form for form in results.variants("first_calls") if form != INFERENCE]
    times = {
        form: [m.values[0] / 1e6 for m in results.series("first_calls", form)] for form in rows
    }
    low, high = min(map(min, times.values())), max(map(max, times.values()))
    with figures.figure(path, figures.WIDTH, 1.1 + 0.42 * len(rows)) as fig:
        axes = fig.add_subplot(xscale="log", xlim=(low / 45, high * 4))
        count = len(times[rows[0]])
        axes.set_title(say("Time of each of the first {count} calls, batch 1", count=count), x=0)
        axes.set_xlabel(say("time of a call"))
        for row, form in enumerate(rows):
            _draw_calls(axes, row, times[form])
        _name_rows(axes, rows)
        exponents = range(math.ceil(math.log10(low / 45)), math.floor(math.log10(high * 4)) + 1)
        ticks = [10.0**e for e in exponents if e % 2 == 0]
        axes.set_xticks(ticks, [_duration(seconds) for seconds in ticks])
        axes.minorticks_off()
        if virtual:
            figures.say_virtual(fig)


def _draw_calls(axes: Axes, row: int, seconds: Sequence[float]) -> None:
    """Draw the first call's time, those after it, and in words the first and the last."""
    first, last = seconds[0], seconds[-1]
    axes.plot(
        seconds[1:],
        [row] * len(seconds[1:]),
        "o",
        color=figures.COLOURS[0],
        markersize=5,
        alpha=0.5,
        markeredgewidth=0,
    )
    axes.plot(first, row, "D", color=figures.COLOURS[1], markersize=6)
    axes.annotate(
        _duration(first),
        (first, row),
        (0, 6),
        textcoords="offset points",
        ha="center",
        color=figures.TEXT_COLOURS[1],
    )
    axes.annotate(
        _duration(last),
        (min(seconds), row),
        (-7, 0),
        textcoords="offset points",
        ha="right",
        va="center",
        color=figures.TEXT_COLOURS[0],
    )
