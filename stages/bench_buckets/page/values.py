"""What the page on buckets names: numbers, and what they decide."""

from pathlib import Path

from lab.report.benchmarks import TITLES, read
from lab.results.measurements import Measurement, Results
from lab.results.stats import ANY, POSITIVE, Ratio, median_of, speedup
from stages.bench_buckets.measure.names import AT_LAST, AT_ONCE, SUMMING

OUTCOMES = {"verdict": ("inconclusive", "faster", "slower"), "own": (False, True)}

DEFAULT_MIB = 25  # of DistributedDataParallel's buckets
NET = "resnet18"


def values(folder: Path) -> dict[str, object]:
    """The values of `folder` (reports/bench_buckets)."""
    results, m = read(folder)
    mib = told_mib(results)
    gain = speedup(*(one(results, "step", when, mib).values for when in (AT_LAST, AT_ONCE)))
    return {
        "gain": gain,
        "verdict": gain.verdict,
        "own": m["device_kind"] == "cuda",  # whether each process computes on a GPU of its own
        "could": could_overlap(results, mib),
        "told": size(results, NET, mib),
        "small": size(results, NET, min(sizes(results, NET))),
        "ready": {
            net: results.series("ready by half of the pass", "all gradients", net=net)[
                0
            ].summary.median
            / 100
            for net in TITLES
        },
        "table": [size(results, net, mib) for net in TITLES for mib in sizes(results, net)],
        "processes": m["num_devices"],
        "images": int(m["resnet18_images"]),
        "starts": m["starts"],
    }


def told_mib(results: Results) -> float:
    """The size that the page tells of beside the smallest: torch's own, or the largest."""
    found = sizes(results, NET)
    return DEFAULT_MIB if DEFAULT_MIB in found[1:] else max(found)


def sizes(results: Results, net: str) -> list[float]:
    """The most MiB of a bucket, of each size that was measured."""
    return [m.x for m in results.series("exposed", AT_ONCE, net=net)]


def one(results: Results, experiment: str, variant: str, mib: float, net: str = NET) -> Measurement:
    """What every size of buckets has."""
    found = results.one(experiment, variant, mib, net=net)
    assert found is not None, "every size has it"  # noqa: S101
    return found


def ready_by_half(results: Results, net: str) -> float:
    """The share of a net's gradients, by bytes, that half of the backward pass computes."""
    [m] = results.series("ready by half of the pass", "all gradients", net=net)
    return m.summary.median / 100


def could_overlap(results: Results, mib: float) -> Ratio:
    """The share of the all-reduce that the model has end before the backward pass does."""
    left, all_ = (
        one(results, "predicted exposed", when, mib).values for when in (AT_ONCE, AT_LAST)
    )
    return median_of([1 - a / b for a, b in zip(left, all_, strict=True)], ANY)


def size(results: Results, net: str, mib: float) -> dict[str, object]:
    """What a size of buckets costs a net, in seconds: measured, and by the model."""
    asked = {
        "alone": ("step", SUMMING),
        "during": ("exposed", AT_ONCE),
        "after": ("exposed", AT_LAST),
        "model": ("predicted exposed", AT_ONCE),
    }
    possible = {"exposed": ANY}  # what one step takes longer than another
    buckets = one(results, "buckets", "all gradients", mib, net).summary.median
    return {
        "net": TITLES[net],
        "mib": f"{mib:g}",
        "buckets": round(buckets),
        **{
            name: median_of(
                [ms / 1e3 for ms in one(results, experiment, variant, mib, net).values],
                possible.get(experiment, POSITIVE),
            )
            for name, (experiment, variant) in asked.items()
        },
    }
