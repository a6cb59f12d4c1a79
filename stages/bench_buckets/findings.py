"""The numbers that bench_buckets' rows give, each derived once."""

from lab.results.findings import Finding, combine, median, ratio
from lab.results.measurements import Results
from lab.results.stats import ANY, POSITIVE, Range
from stages.bench_buckets.measure.names import AT_LAST, AT_ONCE, SUMMING

METRICS = ("resnet18_overlap_speedup",)
DEFAULT_MIB = 25  # of DistributedDataParallel's buckets
NET = "resnet18"


def findings(results: Results) -> dict[str, Finding]:
    told, smallest = told_mib(results), min(sizes(results, NET), default=DEFAULT_MIB)

    def seconds(experiment: str, variant: str, mib: float, possible: Range = POSITIVE) -> Finding:
        ms = results.samples(experiment, variant, mib, net=NET)
        return median(ms * 1e-3, "s", possible=possible, better="less")

    def speedup(mib: float) -> Finding:
        at_last, at_once = (
            results.samples("step", when, mib, net=NET) for when in (AT_LAST, AT_ONCE)
        )
        return ratio(at_last, at_once)

    def ready_by_half(net: str) -> Finding:
        percent = results.samples("ready by half of the pass", "all gradients", net=net)
        return median(percent * 1e-2, "of the gradients' bytes", better="more")

    overlapped = combine(
        lambda left, whole: 1 - left / whole,
        *(results.samples("predicted exposed", when, told, net=NET) for when in (AT_ONCE, AT_LAST)),
    )
    return {
        "resnet18_overlap_speedup": speedup(DEFAULT_MIB),
        "speedup": speedup(told),
        "could_overlap": median(overlapped, "of the all-reduce", possible=ANY, better="more"),
        "after_s": seconds("exposed", AT_LAST, told, ANY),
        "during_s": seconds("exposed", AT_ONCE, told, ANY),
        "model_s": seconds("predicted exposed", AT_ONCE, told),
        "alone_s": seconds("step", SUMMING, told),
        "small_model_s": seconds("predicted exposed", AT_ONCE, smallest),
        "small_alone_s": seconds("step", SUMMING, smallest),
        "resnet18_ready_by_half": ready_by_half("resnet18"),
        "lenet_ready_by_half": ready_by_half("lenet"),
    }


def told_mib(results: Results) -> float:
    """The size that the page tells of beside the smallest: torch's own, or the largest."""
    found = sizes(results, NET)
    return DEFAULT_MIB if DEFAULT_MIB in found[1:] else max(found, default=DEFAULT_MIB)


def sizes(results: Results, net: str) -> list[float]:
    """The most MiB of a bucket, of each size that was measured."""
    return results.xs("exposed", AT_ONCE, net=net)
