"""Figures and tables of the page on the roofline."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
from matplotlib.axes import Axes

from lab.report import figures as style
from lab.report import plots
from lab.report.language import say, translation
from lab.report.numbers import number
from lab.report.page import Figure
from lab.results.findings import Finding, Findings, median
from lab.results.measurements import Measurement, Results
from stages.bench_hardware.page.explorables import COSTS, MOST_IMAGES

# each cache: a working set that fits (KiB), its name, and the book's latency of a load (ns)
CACHES = ((4, "L1", "1.5"), (256, "L2", "5"), (4096, "L3", "16–25"))
BOOK_MEMORY = "46–120"


@dataclass(frozen=True)
class Network:
    """A network under the roofline: its forward pass's arithmetic, and its rate."""

    name: str
    gflop: float
    intensity: float  # FLOP per byte
    rate: Finding  # GFLOP/s
    share: Finding  # of what the roofline allows

    @property
    def title(self) -> str:
        """Return the name without the images' size."""
        return self.name.split(" (")[0]


def values(results: Results, found: Findings) -> dict[str, object]:
    networks = networks_of(results, found)
    by_share = sorted(networks, key=lambda network: network.share.value)
    intensities = [network.intensity for network in networks]
    below, above = near_ridge(intensities, found["ridge"])
    return {
        "networks": networks,
        "least": min(intensities),
        "most": max(intensities),
        "below": below,
        "above": above,
        "between": len(networks) - below - above,
        "lowest": by_share[0],
        "highest": by_share[-1],
        "images": round(1e9 * networks[0].gflop / COSTS[networks[0].name].flop),
        "matrix_size": f"bench_hardware.{'gpu_' if found['launch_us'] else ''}matrix_size",
        "alexnet": {"one": intensity("AlexNet", 1), "most": intensity("AlexNet", MOST_IMAGES)},
        "latencies": latencies(results),
    }


def figures(results: Results, found: Findings) -> list[Figure]:
    peak, copy = found["peak_float32_gflop_per_s"].value, found["copy_gb_per_s"].value
    under = partial(draw_roofline, networks_of(results, found), peak, copy, found["ridge"])
    rate = say("Rate (GFLOP/s)")
    return [
        Figure("roofline", [under]),
        Figure("memory", memory(results)),
        Figure(
            "multiplications",
            [
                plots.dots(ways(results), rate, say("256 × 256 on one thread"), one=None),
                plots.dots(peaks(results), rate, say("Large matrices"), one=None),
            ],
        ),
    ]


def networks_of(results: Results, found: Mapping[str, Finding]) -> list[Network]:
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


def near_ridge(intensities: list[float], ridge: Finding) -> tuple[int, int]:
    """Count the intensities that are certainly below the ridge, and above it."""
    return sum(x < ridge.low for x in intensities), sum(x > ridge.high for x in intensities)


def intensity(network: str, images: int) -> float:
    """Return the FLOP per byte of a forward pass."""
    cost = COSTS[network]
    return cost.flop * images / (cost.num_bytes * images + cost.fixed_bytes)


def latencies(results: Results) -> list[dict[str, object]]:
    """Return the book's latencies with this machine's; none without a C compiler."""
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
    """Write a size in KiB or MiB."""
    return f"{count / 2**20:.0f} MiB" if count >= 2**20 else f"{count / 2**10:.0f} KiB"


def memory(results: Results) -> list[plots.Draw]:
    """Draw loads by working set, if they were measured, and sums by the numbers' distance."""
    random, ordered = (
        results.series("latency", variant) for variant in ("dependent loads", "loads in order")
    )
    drawn = []
    if random:
        drawn.append(
            plots.lines(
                [
                    line(say("random order"), random, 1024),
                    line(say("in order"), ordered, 1024, "X"),
                ],
                say("Working set (KiB)"),
                say("Time per load (ns)"),
                xscale="log",
                yscale="log",
            )
        )
    sums = [line("", results.series("stride", "sum"))]
    distance = say("Distance between numbers (bytes)")
    drawn.append(plots.lines(sums, distance, say("Time per number (ns)"), xscale="log"))
    return drawn


def line(name: str, series: Sequence[Measurement], unit: int = 1, style: str = "-") -> plots.Line:
    """Make a line of medians with the middle half of the samples."""
    found = [m.summary for m in series]
    return plots.Line(
        name,
        [m.x / unit for m in series],
        [each.median for each in found],
        [each.q1 for each in found],
        [each.q3 for each in found],
        style,
    )


def ways(results: Results) -> Findings:
    """Return the rate of each variant of a matrix multiplication."""
    return {
        translation(name): median(results.samples("matmul", name))
        for name in results.variants("matmul")
    }


def peaks(results: Results) -> Findings:
    """Return the rates of large matrix multiplications by dtype and threads."""
    return {
        named(m): median(results.samples("peak", name, m.x))
        for name in results.variants("peak")
        for m in results.series("peak", name)
    }


def named(m: Measurement) -> str:
    """Name a matrix multiplication by its dtype and device or threads."""
    dtype = translation(m.variant)
    if m.threads == 0:
        return say("{dtype}, GPU", dtype=dtype)
    if m.threads == 1:
        return say("{dtype}, 1 thread", dtype=dtype)
    return say("{dtype}, {count} threads", dtype=dtype, count=m.threads)


# --- the roofline ---


def draw_roofline(
    networks: Sequence[Network], peak: float, bandwidth: float, ridge: Finding, path: Path
) -> None:
    """Draw networks as dots under the line of what arithmetic and memory allow."""
    bend = peak / bandwidth
    at, rates = [n.intensity for n in networks], [n.rate.value for n in networks]
    x = np.array([min(ridge.low, *at) / 10, bend, 4 * max(ridge.high, *at)])
    bottom = min(bandwidth * x[0], *rates) / 2.2
    with style.figure(path, style.WIDTH, 3.4) as fig:
        axes = fig.add_subplot(xscale="log", yscale="log")
        axes.set(xlim=(x[0], x[-1]), ylim=(bottom, 2 * max(peak, *rates)))
        axes.set(xlabel=say("FLOP per byte (counted)"), ylabel=say("Rate (GFLOP/s)"))
        axes.plot(x, np.minimum(peak, bandwidth * x), color=style.INK)
        axes.axvspan(ridge.low, ridge.high, color=style.FAINT, alpha=0.2)
        name_roof(axes, ridge, peak, bandwidth)
        name_networks(axes, networks, peak)
        style.plain_ticks(axes.xaxis)
        style.plain_ticks(axes.yaxis)


def name_roof(axes: Axes, ridge: Finding, peak: float, bandwidth: float) -> None:
    """Label the roof, the slope, and both sides of the ridge."""
    (low, _), (bottom, _) = axes.get_xlim(), axes.get_ylim()
    labels = (
        (
            say("peak: {rate} GFLOP/s", rate=number(peak)),
            (peak / bandwidth, peak),
            (-6, 5),
            "right",
        ),
        (
            say("memory: {rate} GB/s", rate=number(bandwidth)),
            (1.3 * low, 1.3 * low * bandwidth),
            (8, -8),
            "left",
        ),
        (say("memory limits"), (ridge.low, bottom), (-6, 5), "right"),
        (say("arithmetic limits"), (ridge.high, bottom), (6, 5), "left"),
    )
    for text, place, offset, side in labels:
        colour = style.FAINT_TEXT if place[1] == bottom else style.INK
        axes.annotate(text, place, offset, textcoords="offset points", ha=side, color=colour)


def name_networks(axes: Axes, networks: Sequence[Network], peak: float) -> None:
    """Draw the networks as dots, with their names to the right, below the peak."""
    to_axes = axes.transData + axes.transAxes.inverted()
    places = [to_axes.transform((n.intensity, n.rate.value)) for n in networks]
    dots = [float(y) for _, y in places]
    roof = float(to_axes.transform((networks[0].intensity, peak))[1])
    heights = style.spread_labels(dots, 0.075, max(roof - 0.06, *dots))
    for network, (x, _), height in zip(networks, places, heights, strict=True):
        axes.plot(network.intensity, network.rate.value, "o", color=style.COLOURS[0], markersize=8)
        axes.text(
            x + 0.025,
            height,
            network.title,
            color=style.TEXT_COLOURS[0],
            transform=axes.transAxes,
            va="center",
        )
