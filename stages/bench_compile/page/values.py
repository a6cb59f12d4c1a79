"""What the page on compiling names beside findings."""

from collections.abc import Mapping

from lab.results.findings import Finding
from lab.results.measurements import Results
from stages.bench_compile.findings import batches, cases, eager_like, over_eager
from stages.bench_compile.measure import names
from stages.bench_compile.measure.names import EAGER, INFERENCE, SCRIPT, TOLERANCE

VERDICTS = ("faster", "slower", "inconclusive")
OUTCOMES = {
    "script_verdict": (*VERDICTS, "missing"),  # a later torch will have none
    "compile_verdict": (*VERDICTS, "missing"),  # it needs a C++ compiler
    "counted_verdict": (*VERDICTS, "missing"),
    "inference_verdict": VERDICTS,
    "gpu": (False, True),
}


def values(results: Results, found: Mapping[str, Finding]) -> dict[str, object]:
    small, large = batches(results)
    return {
        "small": int(small),
        "large": int(large),
        "forms": len(compiled_forms(results)),
        "script_verdict": verdict(found["book_torchscript_over_eager"]),
        "compile_verdict": verdict(found["torchcompile_speedup"]),
        "counted_verdict": verdict(found["with_first_call_speedup"]),
        "inference_verdict": found["inference_speedup"].verdict,
        "faster_small": faster(results, small),
        "faster_large": faster(results, large),
        "pays": break_even_calls(results, SCRIPT),
        "starts": results.conditions["starts"],
        "gpu": results.conditions["device_kind"].startswith("cuda"),
        "table": table(results),
        "nets": nets(results),
        "instructions": [
            int(results.samples("instructions", each).values[0])
            for each in ("compiled once", "folded first")
        ],
        "same": all(found[name].value <= TOLERANCE for name in ("difference", "saved_difference")),
        "cpp": bool(found["cpp_difference"]),
    }


def verdict(speedup: Finding) -> str:
    return speedup.verdict if speedup else "missing"


def compiled_forms(results: Results) -> list[str]:
    """The measured forms that a compiler made."""
    return [form for form in results.variants("call") if form not in (EAGER, INFERENCE)]


def faster(results: Results, batch: float) -> int:
    """How many of the compiled forms are measurably faster than eager."""
    found = [over_eager(results, form, batch) for form in compiled_forms(results)]
    return sum(each.verdict == "faster" for each in found)


def break_even_calls(results: Results, form: str) -> int | None:
    """After how many calls what a form gains has made up for building it; None if it never does."""
    base, call = results.one("call", eager_like(form)), results.one("call", form)
    built = results.one("build", form)
    if not (base and call and built) or over_eager(results, form, base.x).verdict != "faster":
        return None
    return round(1e6 * built.values[0] / (base.summary.median - call.summary.median))


def table(results: Results) -> list[dict[str, object]]:
    """Of each form what building, a call and its file take; None where there is nothing."""

    def median(experiment: str, form: str, scale: float) -> float | None:
        found = results.one(experiment, form)
        return found.summary.median * scale if found else None

    compiled = compiled_forms(results)
    return [
        {
            "name": form,
            "call_s": median("call", form, 1e-6) if form in compiled else None,
            "build_s": median("build", form, 1) if form in compiled else None,
            "pays": break_even_calls(results, form) if form in compiled else None,
            "kib": median("saved_size", form, 1),
            "load_s": median("saved_load", form, 1e-3),
        }
        for form in names.COMPILED_FORMS
        if form in compiled or results.one("saved_size", form)
    ]


def nets(results: Results) -> list[dict[str, object]]:
    """TorchScript's speed-up of each network at each batch."""
    return [
        {"name": net, "batch": int(batch), "speed": speedup}
        for (net, batch), speedup in cases(results).items()
        if speedup
    ]
