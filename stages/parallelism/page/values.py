"""What the page on kinds of parallelism names beside findings: what they send and store."""

from collections.abc import Mapping

from lab.report.benchmarks import undecided
from lab.results.findings import Finding
from lab.results.measurements import Cell, Results
from stages.parallelism.findings import FEW, device_counts, longest_pipeline
from stages.parallelism.measure.names import (
    BY_HAND,
    DATA,
    DENSE,
    LENET,
    NOTES_ALLREDUCE,
    ONE,
    PIPELINE,
    SHARDED_ALLREDUCE,
    TENSOR,
    crossing_images,
)

OF_TIMES = False  # bytes are counted

KINDS = {"data": DATA, "pipeline": PIPELINE, "tensor": TENSOR}


def values(results: Results, found: Mapping[str, Finding]) -> dict[str, object]:
    counts, table = device_counts(results), kinds(results)
    devices, most = counts[0], counts[-1]
    _, micro_batches = longest_pipeline(results)
    images = round(results.series("sent", DATA, net=LENET)[-1].x)
    return {
        "devices": devices,
        "most": most,
        "images": images,
        "sent": {
            short: {
                name: value(results, "sent", kind, net=net, devices=devices)
                for name, kind in KINDS.items()
            }
            for short, net in {"lenet": LENET, "dense": DENSE}.items()
        },
        "crossings": {
            name: round(found[crossing_images(KINDS[name], devices)].value)
            for name in ("pipeline", "tensor")
        },
        "kb_per_image": 1e3 * value(results, "sent", PIPELINE, net=LENET, devices=devices) / images,
        "kinds": table,
        "one_device": table[0],
        "least": min(table, key=lambda each: float(each["held"])),
        "fewest_parameters": min(table, key=lambda each: float(each["parameters"])),
        "adding": {
            "one": value(results, "most sent", NOTES_ALLREDUCE, devices=most),
            "each": value(results, "most sent", SHARDED_ALLREDUCE, devices=most),
        },
        "lenet_per_byte": value(results, "FLOP per byte", LENET),
        "libraries": [library(results, name, devices) for name in BY_HAND],
        "starts": results.conditions["starts"],
        "undecided": undecided(results.conditions, "parallelism"),
        "micro_batches": micro_batches,
        "few": FEW,
    }


def value(results: Results, experiment: str, variant: str, **columns: Cell) -> float:
    """What was counted of a variant, at the larger batch; a ValueError if it is unknown."""
    *_, m = results.series(experiment, variant, **columns)
    return m.values[0]


def kinds(results: Results) -> list[dict[str, str | float]]:
    """What LeNet sends and stores by the larger batch, in MB: on one device, then of each kind.

    The micro-batches of a pipeline change none of it.
    """
    rows: list[tuple[str, int]] = [(ONE, 1)]
    rows += [(kind, n) for n in device_counts(results) for kind in KINDS.values()]
    asked = {"sent": "sent", "held": "held", "parameters": "parameters held"}
    return [
        {
            "kind": kind,
            "devices": n,
            **{
                name: value(results, experiment, kind, net=LENET, devices=n)
                for name, experiment in asked.items()
            },
        }
        for kind, n in rows
    ]


def library(results: Results, name: str, n: int) -> dict[str, str | float]:
    """What one of torch's libraries sends and stores of four dense layers, and the same by hand."""
    by_hand = BY_HAND[name]
    return {
        "name": name,
        "sent": value(results, "sent", name, net=DENSE, devices=n),
        "sent_by_hand": value(results, "sent", by_hand, net=DENSE, devices=n),
        "state": value(results, "state", name, net=DENSE, devices=n),
        "state_by_hand": value(results, "state", by_hand, net=DENSE, devices=n),
    }
