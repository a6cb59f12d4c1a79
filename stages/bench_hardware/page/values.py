"""What the page on the roofline names beside findings."""

from collections.abc import Mapping
from dataclasses import dataclass

from lab.results.findings import Finding, median
from lab.results.measurements import Results
from stages.bench_hardware.page.explorables import COSTS, MOST_IMAGES

# KiB of working sets that each cache holds, and what the book prints for a load from it, in ns
CACHES = ((4, "L1", "1.5"), (256, "L2", "5"), (4096, "L3", "16–25"))
BOOK_MEMORY = "46–120"


@dataclass(frozen=True)
class Network:
    """A network under the roofline: what its forward pass computes, and how fast."""

    name: str
    gflop: float
    intensity: float  # FLOP per byte
    rate: Finding  # GFLOP/s
    share: Finding  # of what the roofline allows

    @property
    def title(self) -> str:
        """Its name without its images' size."""
        return self.name.split(" (")[0]


def values(results: Results, found: Mapping[str, Finding]) -> dict[str, object]:
    networks = networks_of(results, found)
    by_share = sorted(networks, key=lambda network: network.share.value)
    intensities = [network.intensity for network in networks]
    below, above = beside(intensities, found["ridge"])
    return {
        "networks": networks,
        "least": min(intensities),
        "most": max(intensities),
        "below": below,
        "above": above,
        "lowest": by_share[0],
        "highest": by_share[-1],
        "images": round(1e9 * networks[0].gflop / COSTS[networks[0].name].flop),
        "starts": results.conditions["starts"],
        "matrix_size": f"bench_hardware.{'gpu_' if found['launch_us'] else ''}matrix_size",
        "alexnet": {"one": intensity("AlexNet", 1), "most": intensity("AlexNet", MOST_IMAGES)},
        "latencies": latencies(results),
    }


def networks_of(results: Results, found: Mapping[str, Finding]) -> list[Network]:
    """The networks that were measured."""
    return [
        Network(
            name,
            results.samples("counted GFLOP", name).values[0],
            results.xs("network", name)[0],
            found[f"rate of {name}"],
            found[f"share of {name}"],
        )
        for name in results.variants("network")
    ]


def beside(intensities: list[float], ridge: Finding) -> tuple[int, int]:
    """How many networks of so many FLOP per byte lie surely below the ridge, and above it."""
    return sum(x < ridge.low for x in intensities), sum(x > ridge.high for x in intensities)


def intensity(network: str, images: int) -> float:
    """The FLOP per byte of a forward pass."""
    cost = COSTS[network]
    return cost.flop * images / (cost.num_bytes * images + cost.fixed_bytes)


def latencies(results: Results) -> list[dict[str, object]]:
    """The book's latencies beside this machine's; none without a C compiler."""
    measured = results.xs("latency", "dependent loads")
    rows = [
        (1024.0 * kib, level, printed) for kib, level, printed in CACHES if 1024 * kib in measured
    ]
    rows += [(size, "main memory", BOOK_MEMORY) for size in measured[-1:]]
    return [
        {
            "size": in_bytes(size),
            "level": level,
            "book": printed,
            "ns": median(results.samples("latency", "dependent loads", size)),
        }
        for size, level, printed in rows
    ]


def in_bytes(count: float) -> str:
    """A size in the unit that suits it."""
    return f"{count / 2**20:.0f} MiB" if count >= 2**20 else f"{count / 2**10:.0f} KiB"
