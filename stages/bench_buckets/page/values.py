"""What the page on buckets names beside findings."""

from collections.abc import Mapping

from lab.report.benchmarks import TITLES
from lab.results.findings import Finding
from lab.results.measurements import Results
from stages.bench_buckets.findings import NET, sizes, told_mib
from stages.bench_buckets.measure.names import AT_LAST, AT_ONCE, SUMMING


def values(results: Results, found: Mapping[str, Finding]) -> dict[str, object]:
    conditions = results.conditions
    return {
        "told": size(results, NET, told_mib(results)),
        "small": size(results, NET, min(sizes(results, NET))),
        "table": [size(results, net, mib) for net in TITLES for mib in sizes(results, net)],
        "processes": conditions["num_devices"],
        "images": int(conditions["resnet18_images"]),
        "starts": conditions["starts"],
    }


def size(results: Results, net: str, mib: float) -> dict[str, object]:
    """What a size of buckets costs a net, in milliseconds: measured, and by the model."""

    def middle(experiment: str, variant: str) -> float:
        [m] = (m for m in results.series(experiment, variant, net=net) if m.x == mib)
        return m.summary.median

    return {
        "net": TITLES[net],
        "mib": f"{mib:g}",
        "buckets": round(middle("buckets", "all gradients")),
        "alone": middle("step", SUMMING),
        "after": middle("exposed", AT_LAST),
        "during": middle("exposed", AT_ONCE),
        "model": middle("predicted exposed", AT_ONCE),
    }
