"""What the page on compiling names: numbers, and what they decide."""

from pathlib import Path

from lab.report.benchmarks import ratio_of, read
from lab.results.measurements import Results
from lab.results.stats import Ratio, speedup
from stages.bench_compile.measure import names
from stages.bench_compile.measure.names import AOT, COMPILE, EAGER, FIRST_SCRIPT, INFERENCE, SCRIPT

VERDICTS = ("faster", "slower", "inconclusive")
OUTCOMES = {
    "script_verdict": (*VERDICTS, "missing"),  # a later torch will have none
    "compile_verdict": (*VERDICTS, "missing"),  # it needs a C++ compiler
    "counted_verdict": (*VERDICTS, "missing"),
    "inference_verdict": VERDICTS,
    "gpu": (False, True),
}
NAMES = {  # of the forms, as the page calls them
    SCRIPT: "TorchScript",
    names.FROZEN: "frozen TorchScript",
    COMPILE: "torch.compile",
    names.GRAPH: "CUDA graph",
    AOT: "AOTInductor",
    names.EXPORT: "torch.export",
    names.WEIGHTS: "weights only",
}


def values(folder: Path) -> dict[str, object]:
    """The values of `folder` (reports/bench_compile)."""
    results, m = read(folder)
    forms = compiled_forms(results)
    small, large = sizes(results)
    script, compiled, ahead = (
        over_eager(results, form) if form in forms else None for form in (SCRIPT, COMPILE, AOT)
    )
    counted = with_start(results) if script else None
    inference = one_ratio(results, "call", EAGER, INFERENCE)
    return {
        "small": small,
        "large": large,
        "forms": len(forms),
        "script": script,
        "script_verdict": script.verdict if script else "missing",
        "compiled": compiled,
        "compile_verdict": compiled.verdict if compiled else "missing",
        "ahead": ahead,
        "inference": inference,
        "inference_verdict": inference.verdict,
        "faster_small": faster(results, small),
        "faster_large": faster(results, large),
        "python_small": 1 - back_end(results, small),
        "python_large": 1 - back_end(results, large),
        "pays": break_even_calls(results, SCRIPT),
        "first_s": first_call(results) if script else None,
        "counted": counted,
        "counted_verdict": counted.verdict if counted else "missing",
        "starts": m["starts"],
        "gpu": m["device_kind"].startswith("cuda"),
        "table": table(results),
        "nets": nets(results),
        "folded": ratio_of(m, names.FOLDED_SPEEDUP),
        "instructions": [
            count(results, "instructions", each) for each in ("compiled once", "folded first")
        ],
        "same": m[names.SAME_OUTPUTS] == "yes",
        "cpp": results.one("front_end", "C++") is not None,
    }


def compiled_forms(results: Results) -> list[str]:
    """The measured forms that a compiler made."""
    return [form for form in results.variants("call") if form not in (EAGER, INFERENCE)]


def sizes(results: Results) -> tuple[int, int]:
    """The smallest and the largest batch."""
    calls = results.series("call", EAGER)
    return int(calls[0].x), int(calls[-1].x)


def eager_like(form: str) -> str:
    """What a form is compared with: eager with gradients, as in the notes, or without."""
    return EAGER if form == SCRIPT else INFERENCE


def over_eager(results: Results, form: str, batch: float | None = None) -> Ratio:
    """A form's speed-up over eager in the same mode, by default at the smallest batch."""
    return one_ratio(results, "call", eager_like(form), form, batch)


def one_ratio(
    results: Results,
    experiment: str,
    old: str,
    new: str,
    batch: float | None = None,
    **columns: str,
) -> Ratio:
    """How many times as fast one variant of an experiment is as another."""
    a, b = (results.one(experiment, each, batch, **columns) for each in (old, new))
    assert a and b  # noqa: S101 - asked of measured variants only
    return speedup(a.values, b.values)


def faster(results: Results, batch: float) -> int:
    """How many of the compiled forms are measurably faster than eager."""
    found = [over_eager(results, form, batch) for form in compiled_forms(results)]
    return sum(each.verdict == "faster" for each in found)


def back_end(results: Results, batch: float) -> float:
    """The back end's share of an eager call."""
    share = results.one("back_end", EAGER, batch)
    assert share  # noqa: S101 - measured at every size
    return share.summary.median / 100


def break_even_calls(results: Results, form: str) -> int | None:
    """After how many calls what a form gains has made up for building it; None if it never does."""
    base, call = results.one("call", eager_like(form)), results.one("call", form)
    built = results.one("build", form)
    if not (base and call and built) or over_eager(results, form).verdict != "faster":
        return None
    return round(1e6 * built.values[0] / (base.summary.median - call.summary.median))


def first_call(results: Results) -> float:
    """Seconds of a process's first call of TorchScript."""
    return results.series("thousand_calls", FIRST_SCRIPT)[0].summary.median / 1e3


def with_start(results: Results) -> Ratio:
    """Eager's 1000 calls over TorchScript's with the process's first call of it added."""
    eager, script, first = (
        results.series("thousand_calls", each)[0].values for each in (EAGER, SCRIPT, FIRST_SCRIPT)
    )
    return speedup(eager, [calls + once for calls, once in zip(script, first, strict=True)])


def count(results: Results, experiment: str, variant: str) -> int:
    """What was counted, which does not vary."""
    return int(results.series(experiment, variant)[0].values[0])


def table(results: Results) -> list[dict[str, object]]:
    """Of each form what building, a call and its file take; None where there is nothing."""

    def median(experiment: str, form: str, scale: float) -> float | None:
        found = results.one(experiment, form)
        return found.summary.median * scale if found else None

    compiled = compiled_forms(results)
    return [
        {
            "name": name,
            "call_s": median("call", form, 1e-6) if form in compiled else None,
            "build_s": median("build", form, 1) if form in compiled else None,
            "pays": break_even_calls(results, form) if form in compiled else None,
            "kib": median("saved_size", form, 1),
            "load_s": median("saved_load", form, 1e-3),
        }
        for form, name in NAMES.items()
        if form in compiled or results.one("saved_size", form)
    ]


def nets(results: Results) -> list[dict[str, object]]:
    """TorchScript's speed-up over eager, both without gradients, of each network at each batch."""
    of = {net: results.series("cases", EAGER, net=net) for net in ("MLP", "LeNet", "16 layers")}
    return [
        {
            "name": net,
            "batch": int(m.x),
            "speed": one_ratio(results, "cases", EAGER, SCRIPT, m.x, net=net),
        }
        for net, series in of.items()
        for m in series
        if results.one("cases", SCRIPT, m.x, net=net)
    ]
