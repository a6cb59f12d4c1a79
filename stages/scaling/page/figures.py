"""The figures of the page on steps of several devices."""

from collections.abc import Sequence
from functools import partial
from pathlib import Path

from matplotlib.axes import Axes

from lab.report import figures as house
from lab.report import plots
from lab.report.benchmarks import TITLES
from lab.report.language import say, translation
from lab.report.page import Figure
from lab.results.documents import read_results
from lab.results.measurements import Results
from stages.scaling.measure.predictions import ComparedStep, compared_steps
from stages.scaling.measure.simulated import PUBLISHED


def figures(folder: Path) -> list[Figure]:
    """The figures of `folder` (reports/scaling)."""
    results = read_results(folder)
    virtual = results.conditions["device_kind"] == "cpu-virtual"
    steps, n = compared_steps(results), results.conditions["world_size"]
    panels = [partial(draw_net, steps, net, n, virtual) for net in TITLES]
    return [Figure("scaling_predicted", panels), Figure("scaling_clusters", [clusters(results)])]


def clusters(results: Results) -> plots.Draw:
    """Simulated weak scaling by a host's link, and published runs."""
    networks = {
        name: results.series("weak", name, net="resnet50")
        for name in results.variants("weak", net="resnet50")
    }
    published = plots.Line(
        say("published runs"),
        [run.devices for run in PUBLISHED],
        [100 * run.efficiency for run in PUBLISHED],
        style="o",
        faint=True,
    )
    simulated = [
        plots.Line(name, [m.x for m in series], [100 * m.values[0] for m in series])
        for name, series in networks.items()
    ]
    return plots.lines(
        [published, *simulated],
        say("Devices"),
        say("Speed relative to the ideal (%)"),
        say("Simulated"),
        xscale="log",
        height=3.6,
    )


def draw_net(
    steps: Sequence[ComparedStep], net: str, num_devices: int, virtual: bool, path: Path
) -> None:
    """Draw a net's steps: bars of the predicted parts, and what was measured over them."""
    rows = sorted((s for s in steps if s.net == net), key=lambda s: s.measured.x)
    with house.figure(path, house.WIDTH, 1.25 + 0.42 * len(rows)) as fig:
        axes = fig.add_subplot(xlabel=say("Time per step (ms)"))
        axes.set_title(say("{net} on {n} devices", net=TITLES[net], n=num_devices), x=0)
        for row, step in enumerate(rows):
            _draw_step(axes, row, step, virtual)
        names = [
            translation(s.allreduce) + "\n" + say("{n:.0f} images", n=s.measured.x) for s in rows
        ]
        plots.name_rows(axes, names)
        axes.set_xlim(0, None)
        house.key(fig, axes)


def _draw_step(axes: Axes, row: int, step: ComparedStep, virtual: bool) -> None:
    """Draw a step in a row; the first row has the labels of the key."""
    t1, t2 = step.t1.summary.median, step.t2.summary.median
    parts = {say("t₁: computing"): (0.0, t1), say("t₂: communicating"): (t1, t2)}
    for (label, (left, width)), colour in zip(parts.items(), house.COLOURS, strict=False):
        axes.barh(
            row,
            width,
            left=left,
            height=0.62,
            facecolor=colour,
            alpha=0.75,
            hatch=house.VIRTUAL_HATCH if virtual else None,
            edgecolor=house.PAPER,
            label=f"_{label}" if row else label,
        )
    taken = step.measured.summary
    axes.errorbar(
        taken.median,
        row,
        xerr=[[taken.median - taken.q1], [taken.q3 - taken.median]],
        fmt="o",
        color=house.INK,
        markersize=6,
        linewidth=1.5,
        label="_measured" if row else say("measured step"),
    )
    axes.plot(
        max(t1, t2),
        row,
        "D",
        color=house.INK,
        fillstyle="none",
        markersize=7,
        label="_longer" if row else say("max(t₁, t₂)"),
    )
