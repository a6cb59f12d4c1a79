"""What the page on all-reduce names: numbers, and what they decide."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lab.parallel import cost_model
from lab.parallel.cost_model import ALGORITHMS, MODELLED, RING, STAR
from lab.report.benchmarks import TITLES, ratio_of, read
from lab.results.findings import Finding
from lab.results.measurements import Measurement, Results
from lab.results.stats import POSITIVE, Ratio, median_of, speedup
from stages.bench_collectives.measure.model import Model, model_of

OUTCOMES = {
    "bucket": ("faster", "inconclusive", "slower"),
    "shared": (False, True),
    "ring_verdict": ("inconclusive", "faster", "slower"),
    "predicts": (False, True),
    "exact": (False, True),
}
BOOK_BYTES, BOOK_RATE, BOOK_GPUS = 160e6, 16e9, 4  # the book's example (13.7)


@dataclass(frozen=True)
class Gradients:
    """The gradients of a network, and what joining them into one bucket gains by the star."""

    title: str
    tensors: int
    mb: float
    gain: Ratio
    predicted: float  # by the model
    latency: float  # share of the time, tensor by tensor, by the model


def values(folder: Path) -> dict[str, object]:
    """The values of `folder` (reports/bench_collectives)."""
    results, m = read(folder)
    model = model_of(results)
    nets = gradients_of(model, m)
    n = model.many
    star, ring = (results.series("message", name, ranks=n)[-1] for name in (STAR, RING))
    return {
        "gpu": str(m["device_kind"]).startswith("cuda"),
        "bucket": nets[0].gain.verdict,
        "nets": nets,
        "latency": link_of(model)[0],
        "bandwidth": link_of(model)[1],
        "adding": link_of(model)[2],
        "shared": model.fit.shared,
        "few": model.few,
        "many": n,
        "cores": model.cores[n],
        "predicts": n > model.few,
        "error": m.get("unseen_error_percent"),
        "other_error": model.unseen_error(model.other) if n > model.few else None,
        "mb": star.x / 1e6,
        "ring": speedup(star.values, ring.values),
        "ring_verdict": speedup(star.values, ring.values).verdict,
        "algorithms": algorithms(results, n),
        "example": example(model.fit.link.s_per_byte),
        "exact": all(min(m.values) == 1 for m in results.measurements if m.experiment == "exact"),
    }


def gradients_of(model: Model, m: Mapping[str, Any]) -> list[Gradients]:
    """The networks whose gradients were summed."""
    fit, found = model.fit, []
    for net in (net for net in TITLES if f"{net}_bucket_speedup" in m):
        counted = tensors_of(model.results, net)
        count, size = int(counted.values[0]), counted.x
        path = cost_model.allreduce_path(STAR, model.few, count, size, fit.shared)
        latency = path.messages * fit.link.alpha_s / path.seconds(fit.link)
        gain, predicted = ratio_of(m, f"{net}_bucket_speedup"), model.bucket_speedup(counted)
        found.append(Gradients(TITLES[net], count, size / 1e6, gain, predicted, latency))
    return found


def tensors_of(results: Results, net: str) -> Measurement:
    """How many tensors a net's gradients are; x is their bytes."""
    return results.series("tensors", net)[0]


def link_of(model: Model) -> tuple[Finding, Finding, Finding]:
    """The fitted link: seconds per message, GB/s of sending, and GB/s of adding."""
    low, high = model.interval()
    link = model.fit.link
    return (
        Finding(link.alpha_s, low.alpha_s, high.alpha_s),
        # the most seconds per byte are the fewest bytes per second
        Finding(rate(link.s_per_byte), rate(high.s_per_byte), rate(low.s_per_byte)),
        Finding(rate(link.add_s_per_byte), rate(high.add_s_per_byte), rate(low.add_s_per_byte)),
    )


def rate(s_per_byte: float) -> float:
    """A rate in GB/s; what costs nothing has no bound."""
    return 1e-9 / s_per_byte if s_per_byte > 0 else math.inf


def algorithms(results: Results, n: int) -> list[dict[str, object]]:
    """What each algorithm's busiest rank sends of the largest message, and how fast that is."""
    rows = []
    for name in ALGORITHMS:
        largest = results.series("message", name, ranks=n)[-1]
        rates = [cost_model.bus_bandwidth(largest.x, n, t / 1e3) / 1e9 for t in largest.values]
        row: dict[str, object] = {"name": name, "rate": median_of(rates, POSITIVE)}
        if name in MODELLED:
            for what in ("sent", "messages"):
                row[what] = results.series(what, name, ranks=n)[0].summary.median
        rows.append(row)
    return rows


def example(s_per_byte: float) -> list[dict[str, object]]:
    """Seconds of the book's example by bandwidth alone: as printed, and over this link."""
    ways = {
        "one GPU adds up": ("60", cost_model.one_gpu_aggregates_s),
        "the CPU adds up": ("80", cost_model.cpu_aggregates_s),
        "each GPU adds up a quarter": ("15", cost_model.every_gpu_aggregates_s),
    }
    here = 1e9 * rate(s_per_byte)
    return [
        {"name": name, "book": printed, "ms": 1e3 * seconds(BOOK_BYTES, here, BOOK_GPUS)}
        for name, (printed, seconds) in ways.items()
    ]
