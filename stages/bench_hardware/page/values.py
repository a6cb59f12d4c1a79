"""What the page on the roofline names: numbers, and what they decide."""

from dataclasses import dataclass
from pathlib import Path

from lab.report.benchmarks import read
from lab.results.measurements import Measurement, Results
from lab.results.stats import POSITIVE, Ratio, median_of, speedup
from stages.bench_hardware.page.explorables import COSTS, MOST_IMAGES

OUTCOMES = {"limit": ("arithmetic", "memory", "both", "unclear"), "above": (True, False)}
# KiB of working sets that each cache holds, and what the book prints for a load from it, in ns
CACHES = ((4, "L1", "1.5"), (256, "L2", "5"), (4096, "L3", "16–25"))
BOOK_MEMORY = "46–120"


@dataclass(frozen=True)
class Network:
    """A network under the roofline: what its forward pass computes, and how fast."""

    name: str
    gflop: float
    intensity: float  # FLOP per byte
    rate: Ratio  # GFLOP/s
    share: Ratio  # of what the roofline allows

    @property
    def title(self) -> str:
        """Its name without its images' size."""
        return self.name.split(" (")[0]


def values(folder: Path) -> dict[str, object]:
    """The values of `folder` (reports/bench_hardware)."""
    results, m = read(folder)
    peak, copy = roof(results)
    ridge = speedup(peak.values, copy.values)
    networks = networks_of(results)
    by_share = sorted(networks, key=lambda network: network.share.median)
    slow, fast = (
        results.series("matmul", way)[0] for way in ("one element at a time", "all at once")
    )
    small, original = (results.series("stem", stem)[0] for stem in STEMS)
    return {
        "limit": limit_of([network.intensity for network in networks], ridge),
        "ridge": ridge,
        "peak": median_of(peak.values, POSITIVE),
        "bandwidth": median_of(copy.values, POSITIVE),
        "networks": networks,
        "lowest": by_share[0],
        "highest": by_share[-1],
        "above": by_share[-1].share.low > 1,
        "images": round(1e9 * networks[0].gflop / COSTS[networks[0].name].flop),
        "starts": m["starts"],
        "gpu": peak.device_kind != "cpu",
        "ways": speedup(fast.values, slow.values),  # of rates
        "stem_flop": stem_flop(results),
        "stem": speedup(small.values, original.values),
        "alexnet": {"one": intensity("AlexNet", 1), "most": intensity("AlexNet", MOST_IMAGES)},
        "jumps": ratio(results, "products by way of the processor", "products on the GPU"),
        "launch_us": launch_us(results),
        "bfloat16": bfloat16_speed(results),
        "latencies": latencies(results),
        "far": over_first(results, None),
        "second": over_first(results, 256),
        "in_order": in_order(results),
    }


STEMS = ("the notes' small stem", "the original stem")


def roof(results: Results) -> tuple[Measurement, Measurement]:
    """The peak in GFLOP/s and the bandwidth in GB/s of what the networks ran on."""
    kinds = {m.device_kind for m in results.measurements if m.experiment == "network"}
    peak, copy = (
        [m for m in results.series(*of) if m.device_kind in kinds][-1]  # on all cores, or the GPU
        for of in (("peak", "float32"), ("bandwidth", "copy"))
    )
    return peak, copy


def networks_of(results: Results) -> list[Network]:
    """The networks that were measured."""
    peak, copy = roof(results)
    found = []
    for name in results.variants("network"):
        rate, counted = results.series("network", name)[0], results.series("counted GFLOP", name)[0]
        allowed = [
            min(flop, byte * rate.x) for flop, byte in zip(peak.values, copy.values, strict=True)
        ]
        share = speedup(rate.values, allowed)
        found.append(
            Network(name, counted.values[0], rate.x, median_of(rate.values, POSITIVE), share)
        )
    return found


def limit_of(intensities: list[float], ridge: Ratio) -> str:
    """What limits networks of so many FLOP per byte."""
    above = [intensity > ridge.high for intensity in intensities]
    below = [intensity < ridge.low for intensity in intensities]
    if all(above) or all(below):
        return "arithmetic" if all(above) else "memory"
    return "both" if any(above) and any(below) else "unclear"


def intensity(network: str, images: int) -> float:
    """The FLOP per byte of a forward pass."""
    cost = COSTS[network]
    return cost.flop * images / (cost.num_bytes * images + cost.fixed_bytes)


def stem_flop(results: Results) -> float:
    """How much more ResNet-18 computes with the notes' stem than with the original one."""
    small, original = (results.series("counted GFLOP", stem)[0].values[0] for stem in STEMS)
    return small / original


def ratio(results: Results, one: str, other: str) -> Ratio | None:
    """One way to use a GPU relative to another; None without a GPU."""
    found = [results.one("transfers", variant) for variant in (one, other)]
    return speedup(*(m.values for m in found if m)) if all(found) else None


def launch_us(results: Results) -> float | None:
    """What a kernel launch takes; None without a GPU."""
    found = results.one("transfers", "launches")
    return found.summary.median if found else None


def bfloat16_speed(results: Results) -> Ratio:
    """The rate of matrix multiplications in bfloat16 relative to float32, on the same device."""
    peak, _ = roof(results)
    [same] = [
        m
        for m in results.series("peak", "bfloat16")
        if (m.device_kind, m.x) == (peak.device_kind, peak.x)
    ]
    return speedup(same.values, peak.values)  # of rates


def loads(results: Results, kib: int | None) -> Measurement | None:
    """Loads that depend on each other in a working set, by default the largest."""
    found = results.series("latency", "dependent loads")
    if kib is None:
        return found[-1] if found else None
    return results.one("latency", "dependent loads", 1024 * kib)


def latencies(results: Results) -> list[dict[str, object]]:
    """The book's latencies beside this machine's; none without a C compiler."""
    places = [*CACHES, (None, "main memory", BOOK_MEMORY)]
    return [
        {
            "size": in_bytes(m.x),
            "level": level,
            "book": printed,
            "ns": median_of(m.values, POSITIVE),
        }
        for kib, level, printed in places
        if (m := loads(results, kib))
    ]


def over_first(results: Results, kib: int | None) -> Ratio | None:
    """A load from a working set relative to one from the first cache."""
    far, near = loads(results, kib), loads(results, CACHES[0][0])
    return speedup(far.values, near.values) if far and near else None


def in_order(results: Results) -> Ratio | None:
    """Loads from the largest working set in random order relative to those in order."""
    found, ordered = loads(results, None), results.one("latency", "loads in order")
    return speedup(found.values, ordered.values) if found and ordered else None


def in_bytes(count: float) -> str:
    """A size in the unit that suits it."""
    return f"{count / 2**20:.0f} MiB" if count >= 2**20 else f"{count / 2**10:.0f} KiB"
