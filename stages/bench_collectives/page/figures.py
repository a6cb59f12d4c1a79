"""The figures of the page on all-reduce."""

from collections.abc import Sequence
from functools import partial
from pathlib import Path

from matplotlib.axes import Axes
from matplotlib.figure import Figure as Drawing
from matplotlib.patches import Patch

from lab.parallel.cost_model import ALGORITHMS, MODELLED, STAR, allreduce_name
from lab.report import figures as style
from lab.report import plots
from lab.report.benchmarks import TITLES
from lab.report.language import say, translation
from lab.report.page import Figure
from lab.results.documents import read_results
from lab.results.measurements import Measurement, Results
from stages.bench_collectives.model import Model, model_of
from stages.bench_collectives.page.values import tensors_of


def figures(folder: Path) -> list[Figure]:
    """The figures of `folder` (reports/bench_collectives)."""
    results = read_results(folder)
    model, virtual = model_of(results), results.conditions["device_kind"] == "cpu-virtual"
    nets = [net for net in TITLES if net in results.variants("tensors")]
    return [
        Figure("allreduce_gradients", [gradients(results, net, virtual) for net in nets]),
        Figure("allreduce_times", [partial(draw_times, model, n, virtual) for n in model.cores]),
    ]


def gradients(results: Results, net: str, virtual: bool) -> plots.Draw:
    """The time to sum a network's gradients in each way."""
    rows = {
        translation(allreduce_name(name, str(m.columns["grouping"]))): m.values
        for name in results.variants("gradients", net=net)
        for m in results.series("gradients", name, net=net)
    }
    tensors = tensors_of(results, net)
    title = say(
        "{net}: {count:.0f} tensors, {mb:.2g} MB",
        net=TITLES[net],
        count=tensors.values[0],
        mb=tensors.x / 1e6,
    )
    return plots.bars(rows, say("Time for all gradients (ms)"), title, virtual=virtual)


# --- measured times beside the model's ---


def draw_times(model: Model, n: int, virtual: bool, path: Path) -> None:
    """Draw the times of a few messages by each algorithm and n ranks beside the model's."""
    panels = {each: shown(model, each) for each in model.cores}
    every = [m.summary for times in panels.values() for m in times]
    rows: list[str | Measurement] = []  # a size, then its algorithms
    for m in panels[n]:
        if size_of(m.x) not in rows:
            rows.append(size_of(m.x))
        rows.append(m)
    with style.figure(path, style.WIDTH, 1.3 + 0.21 * len(rows)) as fig:
        axes = fig.add_subplot(xlabel=say("Time of the slowest rank (ms)"), xscale="log")
        # the same in all panels, so that they can be compared
        axes.set_xlim(min(s.q1 for s in every) / 1.3, max(s.q3 for s in every) * 1.3)
        draw_rows(axes, model, n, rows)
        labels = [row if isinstance(row, str) else translation(row.variant) for row in rows]
        plots.name_rows(axes, labels)
        for tick, row in zip(axes.get_yticklabels(), rows, strict=True):
            tick.set_fontweight("bold" if isinstance(row, str) else "normal")
        axes.set_title(title_of(model, n), x=0)
        style.plain_ticks(axes.xaxis)
        name_marks(fig, axes, virtual)


def shown(model: Model, n: int) -> list[Measurement]:
    """The times of n ranks to draw: of the largest message, a middle one, the smallest."""
    sizes = [m.x for m in model.results.series("message", STAR, ranks=n)]
    some = dict.fromkeys((sizes[-1], sizes[len(sizes) // 2], sizes[0]))
    timed = (
        model.results.one("message", name, size, ranks=n) for size in some for name in ALGORITHMS
    )
    return [m for m in timed if m]


def size_of(num_bytes: float) -> str:
    """The size of a message in words."""
    if num_bytes >= 1e6:
        return f"{num_bytes / 1e6:.3g} MB"
    return f"{num_bytes / 1e3:.3g} kB" if num_bytes >= 1e3 else say("{n:.0f} bytes", n=num_bytes)


def title_of(model: Model, n: int) -> str:
    """How many ranks, the cores that they share where these are fewer, and what the model does."""
    ranks = say("{n} ranks", n=n)
    if cores := model.cores[n]:
        ranks = say("{n} ranks on {cores} CPU core(s)", n=n, cores=cores)
    if n == model.few:
        return say("{ranks}: fitted", ranks=ranks)
    return say("{ranks}: predicted", ranks=ranks)


def draw_rows(axes: Axes, model: Model, n: int, rows: Sequence[str | Measurement]) -> None:
    """Draw measured times with their middle half, and the model's where it has one."""
    blue, orange = style.COLOURS[:2]
    timed = [(i, row) for i, row in enumerate(rows) if isinstance(row, Measurement)]
    for i, m in timed:
        axes.plot([m.summary.q1, m.summary.q3], [i, i], color=blue, linewidth=2)
    medians = [m.summary.median for _, m in timed]
    places = [i for i, _ in timed]
    axes.plot(medians, places, "o", color=blue, markersize=5, label=say("measured time"))
    predicted = [
        (1e3 * model.seconds(m.variant, n, 1, m.x), i)
        for i, m in timed
        if m.variant in MODELLED and m.x >= 4 * n  # as those that it was fitted to
    ]
    axes.plot(
        [ms for ms, _ in predicted],
        [i for _, i in predicted],
        "D",
        color=orange,
        markersize=7,
        markerfacecolor="none",
        markeredgewidth=1.5,
        label=say("model's time"),
    )


def name_marks(fig: Drawing, axes: Axes, virtual: bool) -> None:
    """Name the marks under the axes, and say of what they are if of virtual devices."""
    handles, labels = axes.get_legend_handles_labels()
    if virtual:
        hatch = style.VIRTUAL_HATCH
        handles.append(Patch(facecolor="none", edgecolor=style.INK, hatch=hatch, linewidth=0.8))
        labels.append(say("virtual devices"))
    fig.legend(handles, labels, loc="outside lower center", ncols=len(labels), frameon=False)
