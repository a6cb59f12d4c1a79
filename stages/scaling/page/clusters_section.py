"""The part of the section on ResNet-50 on thousands of devices: simulated, and published."""

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path

from matplotlib.axes import Axes

from lab.parallel.cost_model import HALVING_DOUBLING, RING
from lab.report import figures
from lab.report.language import say
from lab.report.page import Figure, Table
from lab.results.measurements import Measurement, Results
from stages.scaling.measure import simulated
from stages.scaling.measure.simulated import CLUSTER_NETWORK, PER_HOST, PUBLISHED, Published

TICKS = (8, 64, 512, 4096, 32768)
MOST = 100_000  # devices


def findings() -> list[str]:
    """Whether published runs lie between the model's bounds, and what latency does to a ring."""
    within = [run for run in PUBLISHED if run.exposed_s <= run.t2_s]
    hosts = simulated.HOSTS[-1]
    ring, halving = (
        1e3 * simulated.by_algorithm_s(name, hosts, simulated.NETWORKS[CLUSTER_NETWORK])
        for name in (RING, HALVING_DOUBLING)
    )
    return [
        say(
            "Of {n} published runs of ResNet-50 {within} exposes no more than the model's sums;"
            " what others lose beyond them is none of the network's bytes.",
            n=len(PUBLISHED),
            within=len(within),
        ),
        say(
            "Among {hosts:,} hosts a ring would take {ring:.0f} ms, nearly all of it latency;"
            " halving-doubling {halving:.0f} ms.",
            hosts=hosts,
            ring=ring,
            halving=halving,
        ),
    ]


def table() -> Table:
    """What each published run exposed, beside what its sums take by the model."""
    return Table(
        [
            say("published: ResNet-50, 32 images on each GPU"),
            say("number of GPUs"),
            say("Gb/s of a host"),
            say("ms of a step"),
            say("efficiency, %"),
            say("exposed, ms"),
            say("sums by the model, ms"),
        ],
        [_row(run) for run in PUBLISHED],
        say(
            "Efficiencies, links and times of 90 epochs as listed by Mikami et al. 2018"
            " (arXiv:1811.05233). Exposed: what a step takes longer than its efficiency says."
            " Latency between hosts is assumed to be 30 µs; a half-precision sum has half the"
            " bytes."
        ),
    )


def _row(run: Published) -> list[str]:
    return [
        run.name,
        f"{run.devices:,}",
        f"{run.gbit:g}",
        f"{1e3 * run.step_s:.0f}",
        f"{100 * run.efficiency:g}",
        f"{1e3 * run.exposed_s:.0f}",
        f"{1e3 * run.t2_s:.0f}",
    ]


def figure(results: Results) -> Figure:
    """Weak and strong scaling up to 100,000 devices."""
    return Figure(
        "scaling_clusters",
        say("Simulated: ResNet-50 on up to 100,000 GPUs in hosts of eight, weak and strong."),
        say(
            "A host of eight P100 takes its published time; hosts sum behind the backward pass, by"
            " the faster of a ring and halving-doubling. Circles: published runs (Goyal, Akiba,"
            " Jia). Weak: {images} images on each device. Strong: one batch over all, between"
            " hosts {network}. The last number of hosts, 12,500, is no power of two, which costs a"
            " vector more.",
            images=simulated.IMAGES_EACH,
            network=CLUSTER_NETWORK,
        ),
        [partial(_draw_weak, results), partial(_draw_strong, results)],
    )


def _draw_weak(results: Results, path: Path) -> None:
    with figures.figure(path, figures.WIDTH, 3.2) as fig:
        axes = fig.add_subplot(title=say("Weak scaling, simulated"))
        axes.set(ylabel=say("speed, % of the ideal"), ylim=(0, 105))
        axes.plot(
            [run.devices for run in PUBLISHED],
            [100 * run.efficiency for run in PUBLISHED],
            "o",
            color=figures.INK,
            fillstyle="none",
            markersize=7,
        )
        for i, run in enumerate(PUBLISHED):
            name = run.name.partition(" ")[0]
            axes.annotate(
                say("{name}, {gbit:g} Gb/s", name=name, gbit=run.gbit),
                (run.devices, 100 * run.efficiency),
                (run.devices, 62 - 18 * i),
                ha="center",
                arrowprops={"arrowstyle": "-", "color": figures.FAINT, "shrinkB": 4},
            )
        networks = results.variants("weak", net="resnet50")
        lines = {name: results.series("weak", name, net="resnet50") for name in networks}
        _draw_lines(axes, lines, 100.0)


def _draw_strong(results: Results, path: Path) -> None:
    with figures.figure(path, figures.WIDTH, 3.0) as fig:
        axes = fig.add_subplot(title=say("Strong scaling, simulated"))
        axes.set_ylabel(say("speed, times that of one host"))
        axes.set_yscale("log", base=2)
        axes.set(ylim=(1, 1400))
        axes.set_yticks([1, 4, 16, 64, 256, 1024], ["1", "4", "16", "64", "256", "1024"])
        axes.plot([PER_HOST, 8192], [1, 1024], color=figures.FAINT, linewidth=1)
        lines = {
            say("batch {n}", n=batch_size): results.series(
                "strong", CLUSTER_NETWORK, net="resnet50", images=batch_size
            )
            for batch_size in simulated.CLUSTER_BATCHES
        }
        _draw_lines(axes, lines, 1.0)


def _draw_lines(axes: Axes, lines: Mapping[str, Sequence[Measurement]], scale: float) -> None:
    """Draw lines, each named at its end."""
    axes.set_xlabel(say("devices"))
    axes.set_xscale("log", base=2)
    axes.set(xlim=(PER_HOST, MOST))
    axes.set_xticks(TICKS, map(str, TICKS))
    ends = []
    for i, (name, series) in enumerate(lines.items()):
        x, y = [m.x for m in series], [scale * m.values[0] for m in series]
        axes.plot(x, y, color=figures.COLOURS[i], linestyle=("-", (0, (4, 2)))[i % 2], linewidth=2)
        ends.append((name, x[-1], y[-1], figures.COLOURS[i]))
    figures.label_ends(axes, ends, gap=0.075)
