"""The numbers derived from scaling's rows."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import fmean

from lab.parallel.cost_model import ONE_BUCKET, RING, STAR, allreduce_name, step_bounds
from lab.results.findings import (
    AS_LONG,
    Finding,
    Over,
    Samples,
    combine,
    median,
    missing,
    possible,
    ratio,
)
from lab.results.measurements import Results
from lab.results.reasons import NOT_MEASURED, Reason
from lab.results.stats import ANY, Range
from stages.scaling.measure.names import (
    ALLREDUCES,
    AT_LAST,
    AT_ONCE,
    BY_LIBRARY,
    COMPUTING,
    DEFAULT_MIB,
    NOTES,
    NOTES_IMAGES,
    WAITING,
)
from stages.scaling.model import fit_compute, models_of

METRICS = (
    "mean_error_percent",
    "max_rule_mean_error_percent",
    "lenet_bucket_speedup",
    "resnet18_overlap_speedup",
    "unseen_error_percent",
)
NETS = tuple(NOTES_IMAGES)
EQUAL_IMAGES = 128  # per device, for all nets
BUCKETS_OF = "resnet18"  # its gradients fill several buckets
OF_MESSAGES = (
    "latency_s",
    "bandwidth_gbs",
    "adding_gbs",
    "unseen_error_percent",
    "other_error_percent",
    "ring_speedup",
)


def findings(results: Results) -> dict[str, Finding]:
    summing = {net: results.samples("gradients", NOTES, net=net) for net in NETS}
    star_bucket = allreduce_name(STAR, ONE_BUCKET)
    steps, overlapped = compared_steps(results), bucket_steps(results)
    at_last, at_once = (overlapped[when] for when in (AT_LAST, AT_ONCE))
    fewest = min(results.xs("step", WAITING, net="lenet"), default=None)
    waiting, alone = (
        results.samples("step", name, fewest, net="lenet") for name in (WAITING, COMPUTING)
    )
    found = {
        f"{net}_{name}": finding
        for net in NETS
        for name, finding in {
            "bucket_speedup": ratio(
                summing[net], results.samples("gradients", star_bucket, net=net)
            ),
            "over_summing": ratio(computing(results, net), summing[net], AS_LONG),
            "speedup": ratio(on_one_device(results, net), notes_step(results, net)),
            "ready_by_half": median(
                ready_by_half(results, net), "of the gradients' bytes", better="more"
            ),
        }.items()
    }
    return found | {
        "library_speedup": ratio(
            summing["resnet18"], results.samples("gradients", BY_LIBRARY, net="resnet18")
        ),
        "mean_error_percent": median(
            in_each_start(steps, lambda added, _: added), "%", better="less"
        ),
        "max_rule_mean_error_percent": median(
            in_each_start(steps, lambda _, overlapped: overlapped), "%", better="less"
        ),
        "waiting_over_computing": ratio(waiting, alone, AS_LONG),
        "over_longer": possible(
            ratio(
                notes_step(results, "lenet"),
                combine(max, computing(results, "lenet"), summing["lenet"]),
                "times the longer part",
            ),
            Range(low=1 / 1.1),
        ),
        "resnet18_over_lenet": ratio(
            efficiency(results, "resnet18"), efficiency(results, "lenet"), "times as efficient"
        ),
        "resnet18_overlap_speedup": ratio(at_last.measured, at_once.measured),
        "possible_overlap_speedup": median(
            combine(lambda t1, t2: (t1 + t2) / max(t1, t2), at_once.t1, at_once.t2), "times as fast"
        ),
        "after_s": median((at_last.measured - at_last.t1) * 1e-3, "s", possible=ANY, better="less"),
        "during_s": median(
            (at_once.measured - at_once.t1) * 1e-3, "s", possible=ANY, better="less"
        ),
        **of_messages(results),
    }


def of_messages(results: Results) -> dict[str, Finding]:
    """Return the fitted link, both models' errors for more ranks, and the ring's speed-up."""
    try:
        model, other = models_of(results)
    except ValueError as error:
        return dict.fromkeys(OF_MESSAGES, missing(Reason(NOT_MEASURED, str(error))))
    link, (low, high), starts = model.link, model.interval(), len(model.links)
    kinds = frozenset(m.device_kind for m in results.measurements if m.experiment == "message")

    def rate(s_per_byte: float, most: float, least: float) -> Finding:
        ends = gbs(s_per_byte), gbs(most), gbs(least)
        return Finding(*ends, starts, Over.STARTS, "GB/s", "more", kinds)

    unseen, of_other = (
        median(each.unseen, "%", Over.CASES, better="less") for each in (model, other)
    )
    largest = max(results.xs("message", STAR, ranks=model.many))
    star, ring = (
        results.samples("message", name, largest, ranks=model.many) for name in (STAR, RING)
    )
    latency = link.alpha_s, low.alpha_s, high.alpha_s
    return {
        "latency_s": Finding(*latency, starts, Over.STARTS, "s", "less", kinds),
        "bandwidth_gbs": rate(link.s_per_byte, high.s_per_byte, low.s_per_byte),
        "adding_gbs": rate(link.add_s_per_byte, high.add_s_per_byte, low.add_s_per_byte),
        "unseen_error_percent": unseen,
        "other_error_percent": of_other,
        "ring_speedup": ratio(star, ring),
    }


def gbs(s_per_byte: float) -> float:
    """Return a rate in GB/s; infinite if a byte takes no time."""
    return 1e-9 / s_per_byte if s_per_byte > 0 else math.inf


# --- steps and their parts


@dataclass(frozen=True)
class ComparedStep:
    """Milliseconds of a step and its parts per fresh process, and how the step sums gradients."""

    net: str
    allreduce: str
    images: int
    t1: Samples
    t2: Samples
    measured: Samples


def compared_steps(results: Results) -> list[ComparedStep]:
    """Return the steps that sum gradients after the backward pass."""
    return [
        ComparedStep(
            net,
            name,
            int(images),
            results.samples("step", COMPUTING, images, net=net),
            results.samples("gradients", name, net=net),
            results.samples("step", name, images, net=net),
        )
        for net in NETS
        for name in ALLREDUCES
        for images in results.xs("step", name, net=net)
    ]


def bucket_steps(results: Results, mib: float = DEFAULT_MIB) -> dict[str, ComparedStep]:
    """Return the steps with buckets of at most `mib` MiB, by when the buckets are summed."""
    images = max(results.xs("step", COMPUTING, net=BUCKETS_OF), default=0)
    t1 = results.samples("step", COMPUTING, images, net=BUCKETS_OF)
    t2 = results.samples("gradients", BY_LIBRARY, net=BUCKETS_OF)
    return {
        when: ComparedStep(
            BUCKETS_OF,
            when,
            int(images),
            t1,
            t2,
            results.samples("bucket step", when, mib, net=BUCKETS_OF),
        )
        for when in (AT_LAST, AT_ONCE)
    }


def in_each_start(
    steps: Sequence[ComparedStep], number: Callable[[float, float], float]
) -> Samples:
    """Return, per fresh process, the mean over the steps of `number(added, overlapped)`.

    The arguments are the errors of t1 + t2 and max(t1, t2), in percent of the measured step.
    """

    def of_step(t1: float, t2: float, measured: float) -> float:
        overlapped, added = step_bounds(t1, t2)
        return number(*(100 * abs(each / measured - 1) for each in (added, overlapped)))

    if not steps:
        return Samples(missing=Reason(NOT_MEASURED, "step"))
    each = [combine(of_step, step.t1, step.t2, step.measured) for step in steps]
    return combine(lambda *numbers: fmean(numbers), *each)


# --- the notes' batch: half of it on each of two devices
#
# LeNet computes that batch here. ResNet-18 would take minutes on a CPU, so we extrapolate its
# computing time from smaller batches. The rest of the step is assumed to be equal for all batches,
# since the gradients have the same size.


def computing(results: Results, net: str, images: int = 0, experiment: str = "step") -> Samples:
    """Return the computing time of `images` (default: the notes'), measured or by a fitted line."""
    wanted = images or NOTES_IMAGES[net]
    xs = results.xs(experiment, COMPUTING, net=net)
    if wanted in xs or not xs:
        return results.samples(experiment, COMPUTING, wanted, net=net)
    measured = [results.samples(experiment, COMPUTING, x, net=net) for x in xs]
    return combine(lambda *ms: fit_compute(dict(zip(xs, ms, strict=True))).ms(wanted), *measured)


def on_one_device(results: Results, net: str) -> Samples:
    """Return the time of the notes' whole batch on one device."""
    n = results.conditions.get("world_size", 2)  # the notes have two
    return computing(results, net, n * NOTES_IMAGES[net], "one device")


def beyond_computing(results: Results, net: str) -> Samples:
    """Return the notes' step time minus computing, at the most images."""
    most = max(results.xs("step", NOTES, net=net), default=0)
    step, alone = (results.samples("step", name, most, net=net) for name in (NOTES, COMPUTING))
    return combine(lambda step, alone: max(0.0, step - alone), step, alone)


def notes_step(results: Results, net: str) -> Samples:
    """Return the time of the notes' step with the notes' batch."""
    return computing(results, net) + beyond_computing(results, net)


def efficiency(results: Results, net: str) -> Samples:
    """Return computing's share of a step in percent, with EQUAL_IMAGES for each net."""
    return combine(
        lambda t1, beyond: 100 * t1 / (t1 + beyond),
        computing(results, net, EQUAL_IMAGES),
        beyond_computing(results, net),
    )


def ready_by_half(results: Results, net: str) -> Samples:
    """Return the share of the gradients' bytes that is ready halfway through the backward pass."""
    gradients = [
        m
        for name in results.variants("gradient ready", net=net)
        for m in results.series("gradient ready", name, net=net)
    ]
    if not gradients:
        return Samples(missing=Reason(NOT_MEASURED, "gradient ready"))

    def share(*ready_ms: float) -> float:
        early = (m.x for m, at in zip(gradients, ready_ms, strict=True) if at <= max(ready_ms) / 2)
        return sum(early) / sum(m.x for m in gradients)

    kinds = frozenset(m.device_kind for m in gradients)
    return combine(share, *(Samples(m.values, kinds) for m in gradients))
