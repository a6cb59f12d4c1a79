"""What the page on kinds of parallelism names: what they send and store, and some times."""

from collections.abc import Mapping
from pathlib import Path

from lab.report.benchmarks import read, undecided
from lab.results.measurements import Cell, Results
from lab.results.stats import Ratio, speedup
from stages.parallelism.measure.names import (
    BY_HAND,
    DATA,
    DENSE,
    INCEPTION_OVER_RESNET,
    LENET,
    NOTES_ALLREDUCE,
    ONE,
    PIPELINE,
    RESNET_OVER_ALEXNET,
    SHARDED_ALLREDUCE,
    TENSOR,
    crossing_images,
)
from stages.parallelism.measure.schedule import idle_share, schedule

OF_TIMES = False  # bytes are counted

KINDS = {"data": DATA, "pipeline": PIPELINE, "tensor": TENSOR}
FEW = 2  # micro-batches, to compare with


def values(folder: Path) -> dict[str, object]:
    """The values of `folder` (reports/parallelism)."""
    results, m = read(folder)
    counts = device_counts(results)
    devices, most = counts[0], counts[-1]
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
            name: round(m[crossing_images(kind, devices)]) for name, kind in list(KINDS.items())[1:]
        },
        "kb_per_image": 1e3 * value(results, "sent", PIPELINE, net=LENET, devices=devices) / images,
        "eps": m["largest_difference_eps"],
        "kinds": kinds(results),
        "one_device": kinds(results)[0],
        "least": min(kinds(results), key=lambda each: float(each["held"])),
        "fewest_parameters": min(kinds(results), key=lambda each: float(each["parameters"])),
        "adding": {
            "one": value(results, "most sent", NOTES_ALLREDUCE, devices=most),
            "each": value(results, "most sent", SHARDED_ALLREDUCE, devices=most),
        },
        "lenet_per_byte": value(results, "FLOP per byte", LENET),
        "to_resnet": m[INCEPTION_OVER_RESNET],
        "to_alexnet": m[RESNET_OVER_ALEXNET],
        "libraries": [library(results, name, devices) for name in BY_HAND],
        "pipeline_times": over_data(results, LENET, PIPELINE),
        "tensor_times": over_data(results, DENSE, TENSOR),
        "starts": m["starts"],
        "undecided": undecided(m, "parallelism"),
        **pipeline(results, m),
    }


def value(results: Results, experiment: str, variant: str, **columns: Cell) -> float:
    """What was counted of a variant, at the larger batch; a ValueError if it is unknown."""
    *_, m = results.series(experiment, variant, **columns)
    return m.values[0]


def device_counts(results: Results) -> list[int]:
    """Over how many devices LeNet is split, from the fewest."""
    found = results.series("sent", DATA, net=LENET)
    return sorted({int(m.columns["devices"]) for m in found})


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


def step_times(results: Results, net: str, kind: str) -> tuple[float, ...]:
    """The ms of a step on two devices."""
    [m] = results.series("step", kind, net=net)
    return m.values


def over_data(results: Results, net: str, kind: str) -> Ratio:
    """How many times as long a kind's step takes as data parallelism's."""
    return speedup(step_times(results, net, kind), step_times(results, net, DATA))


def longest_pipeline(results: Results) -> tuple[int, int]:
    """The most devices of a pipeline, and the most micro-batches."""
    found = results.series("idle by FLOP", PIPELINE)
    return max((int(m.columns["devices"]), int(m.columns["micro_batches"])) for m in found)


def idle(devices: int, micro_batches: int) -> float:
    """The share of the time that devices wait, if their parts take equally long."""
    return idle_share(schedule([1.0] * devices, micro_batches))


def pipeline(results: Results, m: Mapping[str, float]) -> dict[str, object]:
    """How long the devices of the longest pipeline wait."""
    devices, micro_batches = longest_pipeline(results)
    return {
        "micro_batches": micro_batches,
        "few": FEW,
        "idle": idle(devices, micro_batches),
        "idle_of_few": idle(devices, FEW),
        "idle_by_flop": m["pipeline_idle_by_flop_percent"] / 100,
    }
