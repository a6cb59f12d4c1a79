"""Figures and tables of the page on kinds of parallelism."""

from functools import partial
from pathlib import Path

from lab.report import figures as house
from lab.report import plots
from lab.report.benchmarks import on_virtual_devices, undecided
from lab.report.language import say, translation
from lab.report.page import Draw, Figure
from lab.results.findings import Findings
from lab.results.measurements import Cell, Results
from stages.parallelism.findings import FEW, device_counts, longest_pipeline
from stages.parallelism.measure.names import (
    DATA,
    DENSE,
    LENET,
    NOTES_ALLREDUCE,
    ONE,
    PIPELINE,
    SHARDED_ALLREDUCE,
    TENSOR,
)
from stages.parallelism.measure.schedule import schedule

KINDS = {"data": DATA, "pipeline": PIPELINE, "tensor": TENSOR}


def values(results: Results, found: Findings) -> dict[str, object]:
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
            name: round(found[f"{name}_crossing_images"].value) for name in ("pipeline", "tensor")
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
        "undecided": undecided(results.conditions, "parallelism"),
        "micro_batches": micro_batches,
        "few": FEW,
    }


def figures(results: Results, found: Findings) -> list[Figure]:
    virtual = on_virtual_devices(results.conditions)
    times = [
        plots.bars(
            {
                translation(kind): results.samples("step", kind, net=net).values
                for kind in KINDS.values()
            },
            say("Time per step (ms)"),
            translation(net),
            virtual=virtual,
        )
        for net in (LENET, DENSE)
    ]
    return [
        Figure("parallelism", [sent(results, n) for n in device_counts(results)]),
        Figure("parallelism_times", times),
        Figure("parallelism_pipeline", [partial(_draw_pipeline, *longest_pipeline(results))]),
        Figure(
            "parallelism_ratio",
            [plots.bars(per_byte(results), say("FLOP per image and byte of parameters"))],
        ),
    ]


def value(results: Results, experiment: str, variant: str, **columns: Cell) -> float:
    """Return a variant's count at the larger batch.

    Raises:
        ValueError: the variant was not counted.
    """
    *_, m = results.series(experiment, variant, **columns)
    return m.values[0]


def kinds(results: Results) -> list[dict[str, str | float]]:
    """Return the MB that LeNet sends and stores at the larger batch, on one device and by kind.

    The number of a pipeline's micro-batches does not matter.
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


def sent(results: Results, n: int) -> Draw:
    """Plot the MB that LeNet's devices send each other by batch size, on any kind of device."""
    found = {kind: results.series("sent", kind, net=LENET, devices=n) for kind in KINDS.values()}
    return plots.lines(
        [
            plots.Line(translation(kind), [m.x for m in each], [m.values[0] for m in each])
            for kind, each in found.items()
        ],
        say("Images per step"),
        say("Sent per step (MB)"),
        say("{n} devices", n=n),
        xscale="log",
        yscale="log",
    )


def per_byte(results: Results) -> dict[str, list[float]]:
    """Return each network's training FLOP per image and byte of parameters, largest first."""
    found = {
        name: value(results, "FLOP per byte", name) for name in results.variants("FLOP per byte")
    }
    return {
        translation(name): [flop] for name, flop in sorted(found.items(), key=lambda each: -each[1])
    }


def _draw_pipeline(devices: int, micro_batches: int, path: Path) -> None:
    """Draw when each device works on which micro-batch in the forward pass."""
    with house.figure(path, house.WIDTH, 0.9 + 0.34 * devices) as fig:
        axes = fig.add_subplot(xlabel=say("Time (one micro-batch on one device = 1)"))
        for slot in schedule([1.0] * devices, micro_batches):
            colour = house.COLOURS[slot.micro_batch % len(house.COLOURS)]
            axes.barh(
                slot.device, 1, left=slot.start, height=0.86, color=colour, alpha=0.35, linewidth=0
            )
            axes.text(
                slot.start + 0.5, slot.device, f"{slot.micro_batch + 1}", ha="center", va="center"
            )
        plots.name_rows(axes, [say("device {n}", n=i + 1) for i in range(devices)])
        axes.set_xlim(0, devices + micro_batches - 1)
        axes.grid(visible=False)
