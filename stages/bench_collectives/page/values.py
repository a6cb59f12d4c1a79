"""What the page on all-reduce names beside findings."""

from collections.abc import Mapping
from dataclasses import dataclass

from lab.parallel import cost_model
from lab.parallel.cost_model import ALGORITHMS, MODELLED, STAR
from lab.report.benchmarks import TITLES
from lab.results.findings import Finding, combine, median
from lab.results.measurements import Measurement, Results
from stages.bench_collectives.model import Model, model_of

OUTCOMES = {"predicts": (False, True), "exact": (False, True)}
BOOK_BYTES, BOOK_RATE, BOOK_GPUS = 160e6, 16e9, 4  # the book's example (13.7)


@dataclass(frozen=True)
class Gradients:
    """The gradients of a network, and what joining them into one bucket gains by the star."""

    title: str
    tensors: int
    mb: float
    gain: Finding
    predicted: float  # by the model
    latency: float  # share of the time, tensor by tensor, by the model


def values(results: Results, found: Mapping[str, Finding]) -> dict[str, object]:
    model = model_of(results)
    nets, n = gradients_of(model, found), model.many
    errors = found["unseen_error_percent"], found["other_error_percent"]
    shared_error, own_error = errors if model.fit.shared else errors[::-1]
    largest = max(results.xs("message", STAR, ranks=n))
    return {
        "nets": nets,
        "few": model.few,
        "many": n,
        "predicts": bool(found["unseen_error_percent"]),
        "shared_error_percent": shared_error,  # if one link is assumed for all ranks
        "own_error_percent": own_error,  # if one is for each rank
        "mb": largest / 1e6,
        "algorithms": [algorithm(results, name, n, largest) for name in ALGORITHMS],
        "example": example(1e9 * found["bandwidth_gbs"].value),
        "exact": all(min(m.values) == 1 for m in results.measurements if m.experiment == "exact"),
    }


def gradients_of(model: Model, found: Mapping[str, Finding]) -> list[Gradients]:
    """The networks whose gradients were summed."""
    fit, nets = model.fit, []
    for net, title in TITLES.items():
        if gain := found[f"{net}_bucket_speedup"]:
            counted = tensors_of(model.results, net)
            count, size = int(counted.values[0]), counted.x
            path = cost_model.allreduce_path(STAR, model.few, count, size, fit.shared)
            latency = path.messages * fit.link.alpha_s / path.seconds(fit.link)
            predicted = model.bucket_speedup(counted)
            nets.append(Gradients(title, count, size / 1e6, gain, predicted, latency))
    return nets


def tensors_of(results: Results, net: str) -> Measurement:
    """How many tensors a net's gradients are; x is their bytes."""
    return results.series("tensors", net)[0]


def algorithm(results: Results, name: str, n: int, num_bytes: float) -> dict[str, object]:
    """What an algorithm's busiest rank sends of a message, and how fast that is."""
    rates = combine(
        lambda ms: cost_model.bus_bandwidth(num_bytes, n, ms / 1e3) / 1e9,
        results.samples("message", name, num_bytes, ranks=n),
    )
    sent = {
        what: results.series(what, name, ranks=n)[0].summary.median
        for what in (("sent", "messages") if name in MODELLED else ())
    }
    return {"name": name, "rate": median(rates, "GB/s"), **sent}


def example(bytes_per_s: float) -> list[dict[str, object]]:
    """Milliseconds of the book's example by bandwidth alone: as printed, and over this link."""
    ways = {
        "one GPU adds up": ("60", cost_model.one_gpu_aggregates_s),
        "the CPU adds up": ("80", cost_model.cpu_aggregates_s),
        "each GPU adds up a quarter": ("15", cost_model.every_gpu_aggregates_s),
    }
    return [
        {"name": name, "book": printed, "ms": 1e3 * seconds(BOOK_BYTES, bytes_per_s, BOOK_GPUS)}
        for name, (printed, seconds) in ways.items()
    ]
