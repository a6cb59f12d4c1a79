"""The figures of the page on kinds of parallelism."""

from functools import partial
from pathlib import Path

from lab.report import figures as house
from lab.report import plots
from lab.report.language import say, translation
from lab.report.page import Draw, Figure
from lab.results.documents import read_results
from lab.results.measurements import Results
from stages.parallelism.findings import device_counts, longest_pipeline
from stages.parallelism.measure.names import DENSE, LENET
from stages.parallelism.measure.schedule import schedule
from stages.parallelism.page.values import KINDS, value


def figures(folder: Path) -> list[Figure]:
    """The figures of `folder` (reports/parallelism)."""
    results = read_results(folder)
    virtual = results.conditions["device_kind"] == "cpu-virtual"
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
        Figure("parallelism", [sent(results, n, virtual) for n in device_counts(results)]),
        Figure("parallelism_times", times),
        Figure("parallelism_pipeline", [partial(_draw_pipeline, *longest_pipeline(results))]),
        Figure(
            "parallelism_ratio",
            [plots.bars(per_byte(results), say("FLOP per image and byte of parameters"))],
        ),
    ]


def sent(results: Results, n: int, virtual: bool) -> Draw:
    """What LeNet's devices send each other by batch size."""
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
        virtual=virtual,
    )


def per_byte(results: Results) -> dict[str, list[float]]:
    """Each network's training FLOP per byte of parameters for an image, the most first."""
    found = {
        name: value(results, "FLOP per byte", name) for name in results.variants("FLOP per byte")
    }
    return {
        translation(name): [flop] for name, flop in sorted(found.items(), key=lambda each: -each[1])
    }


def _draw_pipeline(devices: int, micro_batches: int, path: Path) -> None:
    """When each device works on which micro-batch in the forward pass."""
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
