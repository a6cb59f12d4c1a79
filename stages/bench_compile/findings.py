"""The numbers derived from bench_compile's rows."""

import numpy as np

from lab.results.findings import Finding, Samples, combine, exact, median, ratio, share_of_cases
from lab.results.measurements import Results
from lab.results.stats import SMALLEST_EFFECT, Range
from stages.bench_compile.measure.names import (
    AOT,
    BUILT_FORMS,
    COMPILE,
    EAGER,
    FIRST_SCRIPT,
    GRAPH,
    INFERENCE,
    NETS,
    SAVED_FORMS,
    SCRIPT,
)

METRICS = (
    "book_torchscript_over_eager",
    "torchcompile_speedup",
    "folded_program_speedup",
    "torchcompile_build_s",
)


def findings(results: Results) -> dict[str, Finding]:
    """Return the findings; a speed-up is at the smallest batch unless its name has a batch."""
    small, large = batches(results)

    def by_two_threads(form: str) -> Finding:
        one, two = (results.samples("threads", form, count) for count in (1, 2))
        return ratio(one, two, "times as many calls", better="more")

    def python_share(batch: float) -> Finding:
        percent = results.samples("back_end", EAGER, batch)
        return median(combine(lambda back_end: 1 - back_end / 100, percent), "of a call")

    thousand, thousand_scripted, first_call = (
        results.samples("thousand_calls", form) for form in (EAGER, SCRIPT, FIRST_SCRIPT)
    )
    with_first_call = combine(lambda calls, first: calls + first, thousand_scripted, first_call)
    return {
        "book_torchscript_over_eager": over_eager(results, SCRIPT, small),
        "torchscript_at_batch_1": over_eager(results, SCRIPT, 1),
        "torchcompile_speedup": over_eager(results, COMPILE, small),
        "torchcompile_at_batch_1": over_eager(results, COMPILE, 1),
        "torchcompile_build_s": median(results.samples("build", COMPILE), "s", better="less"),
        "aotinductor_speedup": over_eager(results, AOT, small),
        "inference_speedup": ratio(
            results.samples("call", EAGER, small), results.samples("call", INFERENCE, small)
        ),
        "thousand_calls_speedup": ratio(thousand, thousand_scripted),
        "with_first_call_speedup": ratio(thousand, with_first_call),
        "first_call_s": median(first_call * 1e-3, "s", better="less"),
        "faster_cases_percent": faster_cases(results),
        "python_share_small": python_share(small),
        "python_share_large": python_share(large),
        "busy_gpus": ratio(
            results.samples("call", GRAPH, 1), results.samples("enqueue", INFERENCE, 1), "GPUs"
        ),
        "eager_by_two_threads": by_two_threads(EAGER),
        "torchscript_by_two_threads": by_two_threads(SCRIPT),
        "difference": largest(results, "difference", BUILT_FORMS),
        "saved_difference": largest(results, "saved_difference", SAVED_FORMS),
        "cpp_difference": largest(results, "front_end", ("C++",)),
        "folded_program_speedup": ratio(
            results.samples("program", "text"), results.samples("program", "folded first")
        ),
    }


def batches(results: Results) -> tuple[float, float]:
    """Return the smallest and the largest batch size of a call."""
    found = results.xs("call", EAGER) or [1.0]
    return found[0], found[-1]


def eager_like(form: str) -> str:
    """Return a form's baseline: eager with gradients, as in the notes, or without."""
    return EAGER if form == SCRIPT else INFERENCE


def over_eager(results: Results, form: str, batch: float) -> Finding:
    """Return a form's speed-up over eager, both with gradients or both without."""
    eager, compiled = (results.samples("call", each, batch) for each in (eager_like(form), form))
    return ratio(eager, compiled)


def cases(results: Results) -> dict[tuple[str, float], Finding]:
    """Return TorchScript's speed-up over eager, both without gradients, by network and batch."""

    def speedup(net: str, batch: float) -> Finding:
        eager, script = (results.samples("cases", form, batch, net=net) for form in (EAGER, SCRIPT))
        return ratio(eager, script)

    return {
        (net, batch): speedup(net, batch)
        for net in NETS
        for batch in results.xs("cases", EAGER, net=net)
    }


def faster_cases(results: Results) -> Finding:
    """Return the percentage of cases in which TorchScript is faster."""
    found = [*cases(results).values()]
    if not found:
        return median(results.samples("cases", EAGER), "% of the cases")
    return share_of_cases(found, Range(low=1 + SMALLEST_EFFECT))


def largest(results: Results, experiment: str, forms: tuple[str, ...]) -> Finding:
    """Return the largest difference of any logit from eager's, over the measured forms."""
    unit = "(largest difference of a logit)"
    of_forms = [results.samples(experiment, form) for form in forms]
    found = [each for each in of_forms if each]
    if not found:
        return exact(of_forms[0], unit)
    farthest = float(np.abs([value for each in found for value in each.values]).max())
    return exact(Samples((farthest,), found[0].device_kinds), unit, better="less")
