"""The numbers that bench_collectives' rows give, each derived once."""

import math
from functools import partial

from lab.parallel.cost_model import LIBRARY, ONE_BUCKET, PER_TENSOR, RING, STAR
from lab.results.findings import Finding, Over, median, missing, ratio
from lab.results.measurements import Results
from lab.results.reasons import NOT_MEASURED, Reason
from stages.bench_collectives.model import Model, model_of

METRICS = ("unseen_error_percent", "lenet_bucket_speedup", "resnet18_bucket_speedup")
OF_MESSAGES = (
    "latency_s",
    "bandwidth_gbs",
    "adding_gbs",
    "unseen_error_percent",
    "other_error_percent",
    "ring_speedup",
)


def findings(results: Results) -> dict[str, Finding]:
    def bucket_speedup(net: str) -> Finding:
        """What joining a net's gradients into one bucket gains by the star."""
        each, joined = (
            results.samples("gradients", STAR, net=net, grouping=grouping)
            for grouping in (PER_TENSOR, ONE_BUCKET)
        )
        return ratio(each, joined)

    of_two = partial(results.samples, "gradients", ranks=2, net="resnet18")
    by_notes, by_torch = of_two(STAR, grouping=PER_TENSOR), of_two(LIBRARY, grouping=ONE_BUCKET)
    of_gradients = {
        "library_speedup": ratio(by_notes, by_torch),
        "lenet_bucket_speedup": bucket_speedup("lenet"),
        "resnet18_bucket_speedup": bucket_speedup("resnet18"),
    }
    try:
        model = model_of(results)
    except ValueError as error:
        return of_gradients | dict.fromkeys(OF_MESSAGES, missing(Reason(NOT_MEASURED, str(error))))
    return of_gradients | of_messages(model)


def of_messages(model: Model) -> dict[str, Finding]:
    """The fitted link, how well it and the other kind predict more ranks, and a ring's gain."""
    link, (low, high) = model.fit.link, model.interval()
    starts = len(model.times[0].values)
    kinds = frozenset(m.device_kind for m in model.times)

    def rate(s_per_byte: float, most: float, least: float) -> Finding:
        ends = gbs(s_per_byte), gbs(most), gbs(least)
        return Finding(*ends, starts, Over.STARTS, "GB/s", "more", kinds)

    latency = link.alpha_s, low.alpha_s, high.alpha_s
    unseen, other = (
        median(model.unseen_errors(fit), "%", Over.CASES, better="less")
        for fit in (model.fit, model.other)
    )
    largest = max(model.results.xs("message", STAR, ranks=model.many))
    star, ring = (
        model.results.samples("message", name, largest, ranks=model.many) for name in (STAR, RING)
    )
    return {
        "latency_s": Finding(*latency, starts, Over.STARTS, "s", "less", kinds),
        "bandwidth_gbs": rate(link.s_per_byte, high.s_per_byte, low.s_per_byte),
        "adding_gbs": rate(link.add_s_per_byte, high.add_s_per_byte, low.add_s_per_byte),
        "unseen_error_percent": unseen,
        "other_error_percent": other,
        "ring_speedup": ratio(star, ring),
    }


def gbs(s_per_byte: float) -> float:
    """A rate in GB/s; what costs nothing has no bound."""
    return 1e-9 / s_per_byte if s_per_byte > 0 else math.inf
