"""Figures and tables of the page on compiling."""

from collections.abc import Callable

import numpy as np

from lab.report import plots
from lab.report.benchmarks import on_virtual_devices
from lab.report.language import say, translation
from lab.report.numbers import duration, number, span, which
from lab.report.page import Draw, Figure
from lab.results.findings import Finding, Findings, Over, difference
from lab.results.measurements import Results
from stages.bench_compile.findings import batches, cases, eager_like, over_eager
from stages.bench_compile.measure.names import COMPILED_FORMS, EAGER, INFERENCE

NOTHING = "–"  # in an empty cell
MOST_CALLS = 100_000  # that are shown


def values(results: Results, found: Findings) -> dict[str, object]:
    small, large = batches(results)
    forms = table(results)
    return {
        "small": int(small),
        "large": int(large),
        "forms": len(compiled_forms(results)),
        "faster_small": faster(results, small),
        "faster_large": faster(results, large),
        "pays_off": pays_off(forms),
        "table": forms,
        "nets": nets(results),
        "instructions": [
            int(results.samples("instructions", each).values[0])
            for each in ("compiled once", "folded first")
        ],
    }


def figures(results: Results, found: Findings) -> list[Figure]:
    virtual = on_virtual_devices(results.conditions)
    return [
        Figure(
            "compile_speedups",
            [speeds(results, size, virtual) for size in dict.fromkeys(batches(results))],
        ),
        Figure("compile_pays", [with_building(results, virtual)]),
    ]


def compiled_forms(results: Results) -> list[str]:
    """Return the measured forms that a compiler made."""
    return [form for form in results.variants("call") if form not in (EAGER, INFERENCE)]


def faster(results: Results, batch: float) -> int:
    """Return the number of compiled forms that are certainly faster than eager."""
    found = [over_eager(results, form, batch) for form in compiled_forms(results)]
    return sum(each.verdict == "faster" for each in found)


def break_even_calls(results: Results, form: str) -> Finding | None:
    """Return the number of calls after which a form has paid for its build; None if never.

    Each process gives a gain; the form was built once.
    """
    base, built = results.one("call", eager_like(form)), results.one("build", form)
    if not (base and built) or over_eager(results, form, base.x).verdict != "faster":
        return None
    build_us = 1e6 * built.values[0]
    eager, compiled = (results.samples("call", each, base.x) for each in (base.variant, form))
    gain = difference(eager, compiled, "us", Over.STARTS)
    least, most = build_us / gain.high, build_us / gain.low
    return Finding(build_us / gain.value, least, most, gain.n, gain.over, "calls")


def pays(results: Results, form: str) -> str:
    """Say after how many calls a compiled form pays off."""
    base = results.one("call", form)
    if form not in compiled_forms(results) or not (base and results.one("build", form)):
        return NOTHING
    if calls := break_even_calls(results, form):
        return say("{effect} ({interval})", effect=number(calls, 2), interval=span(calls))
    return which(over_eager(results, form, base.x), NOTHING, say("undecided"), say("never"))


def pays_off(forms: list[dict[str, str]]) -> list[str]:
    """Name each form that was built and called, with its `pays`."""
    return [
        f"{translation(each['name'])} {each['pays']}" for each in forms if each["pays"] != NOTHING
    ]


def table(results: Results) -> list[dict[str, str]]:
    """Return a row of cells per form, eager first: call, build, pay-off, file size, load."""

    def cell(experiment: str, form: str, write: Callable[[float], str]) -> str:
        found = results.one(experiment, form)
        return write(found.summary.median) if found else NOTHING

    return [
        {
            "name": form,
            "call": cell("call", form, lambda us: duration(us * 1e-6, 3)),
            "build": cell("build", form, duration),
            "pays": pays(results, form),
            "kib": cell("saved_size", form, lambda kib: number(kib, 3)),
            "load": cell("saved_load", form, lambda ms: duration(ms * 1e-3)),
        }
        for form in (EAGER, INFERENCE, *COMPILED_FORMS)
        if results.one("call", form) or results.one("saved_size", form)
    ]


def nets(results: Results) -> list[dict[str, object]]:
    """Return TorchScript's speed-up for each network at each batch size."""
    return [
        {"name": net, "batch": int(batch), "speed": speedup}
        for (net, batch), speedup in cases(results).items()
        if speedup
    ]


def speeds(results: Results, batch: float, virtual: bool) -> Draw:
    rows = {translation(form): over_eager(results, form, batch) for form in compiled_forms(results)}
    title = say("Batch {size:,}", size=int(batch))
    return plots.dots(rows, say("Speed relative to eager (×)"), title, virtual=virtual)


def with_building(results: Results, virtual: bool) -> Draw:
    """Draw each form's speed relative to eager by the number of calls, building included."""
    calls = np.geomspace(1, MOST_CALLS, 80)
    shown = [plots.Line(say("eager"), [1, MOST_CALLS], [1, 1], faint=True)]
    for form in compiled_forms(results):
        base, call, built = (
            results.one("call", eager_like(form)),
            results.one("call", form),
            results.one("build", form),
        )
        if base and call and built:
            us = 1e6 * built.values[0] + calls * call.summary.median
            speed = calls * base.summary.median / us
            shown.append(plots.Line(translation(form), calls.tolist(), speed.tolist()))
    return plots.lines(
        shown,
        say("Number of calls"),
        say("Speed relative to eager (×)"),
        xscale="log",
        height=3.6,
        virtual=virtual,
    )
