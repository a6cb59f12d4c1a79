"""The numbers that scaling's rows give, each derived once."""

from collections.abc import Callable, Sequence
from math import nan
from statistics import fmean

from lab.parallel.cost_model import RING, STAR, step_bounds
from lab.results.findings import (
    AS_LONG,
    Finding,
    Samples,
    combine,
    median,
    of_one_run,
    possible,
    ratio,
)
from lab.results.measurements import Results
from lab.results.reasons import NOT_MEASURED, Reason
from lab.results.stats import PERCENT, Range
from stages.scaling.measure.predictions import HALVES, ComparedStep, compared_steps
from stages.scaling.measure.step_model import waits

METRICS = ("mean_error_percent", "largest_error_percent", "max_rule_mean_error_percent")


def findings(results: Results) -> dict[str, Finding]:
    def at_notes_batch(net: str, name: str) -> Samples:
        return results.samples("notes' batch", name, net=net)

    def speedup(net: str) -> Finding:
        return ratio(at_notes_batch(net, "whole batch on one device"), at_notes_batch(net, "step"))

    def over_summing(net: str) -> Finding:
        return ratio(
            at_notes_batch(net, "computing"), at_notes_batch(net, "summing alone"), AS_LONG
        )

    step, *parts = (
        at_notes_batch("lenet", name) for name in ("step", "computing", "summing alone")
    )
    steps = compared_steps(results)
    of_sum = [100 * step.error() for step in steps]
    halves = [m.summary.median for m in results.measurements if m.experiment == HALVES]
    late = waits(results) if results.variants("behind computing") else {}
    lenet, resnet18 = (results.samples("efficiency", net) for net in ("lenet", "resnet18"))
    return {
        "mean_error_percent": median(
            in_each_start(steps, lambda added, _: added), "%", better="less"
        ),
        "largest_error_percent": of_one_run(max(map(abs, of_sum), default=nan), "%", "less"),
        "max_rule_mean_error_percent": median(
            in_each_start(steps, lambda _, overlapped: overlapped), "%", better="less"
        ),
        "nearer_the_sum_percent": median(
            in_each_start(steps, lambda added, overlapped: 100.0 * (added < overlapped)),
            "% of the steps",
            possible=PERCENT,
        ),
        "noise_floor_percent": of_one_run(fmean(map(abs, halves)) if halves else nan, "%", "less"),
        "star_wait_s": of_one_run(late.get(STAR, nan), "s", "less"),
        "ring_wait_s": of_one_run(late.get(RING, nan), "s", "less"),
        "over_longer": possible(
            ratio(step, combine(max, *parts), "times the longer part"), Range(low=1 / 1.1)
        ),
        "lenet_speedup": speedup("lenet"),
        "resnet18_speedup": speedup("resnet18"),
        "lenet_over_summing": over_summing("lenet"),
        "resnet18_over_summing": over_summing("resnet18"),
        "lenet_efficiency_percent": median(lenet, "%", possible=PERCENT, better="more"),
        "resnet18_efficiency_percent": median(resnet18, "%", possible=PERCENT, better="more"),
        "resnet18_over_lenet": ratio(resnet18, lenet, "times as efficient"),
    }


def in_each_start(
    steps: Sequence[ComparedStep], number: Callable[[float, float], float]
) -> Samples:
    """The mean over the steps, in each start, of a number of the errors of t1 + t2 and of max.

    An error is in percent of the measured step.
    """
    if not steps:
        return Samples(missing=Reason(NOT_MEASURED, "step"))

    def mean(start: int) -> float:
        found = []
        for step in steps:
            t1, t2, ms = (each.values[start] for each in (step.t1, step.t2, step.measured))
            overlapped, added = step_bounds(t1, t2)
            found.append(number(*(100 * abs(each / ms - 1) for each in (added, overlapped))))
        return fmean(found)

    starts = range(len(steps[0].measured.values))
    kinds = frozenset(step.measured.device_kind for step in steps)
    return Samples(tuple(map(mean, starts)), kinds)
