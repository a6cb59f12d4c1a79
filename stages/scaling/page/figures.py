"""Figures and tables of the page on all-reduces and steps."""

from collections.abc import Iterator, Sequence
from functools import partial
from itertools import accumulate, pairwise
from pathlib import Path
from statistics import median
from typing import Any

from matplotlib.axes import Axes

from lab.parallel.cost_model import (
    ALGORITHMS,
    MODELLED,
    STAR,
    allreduce_path,
    allreduce_s,
    bus_bandwidth,
    bytes_sent,
)
from lab.report import figures as house
from lab.report import plots
from lab.report.benchmarks import TITLES, on_virtual_devices
from lab.report.language import say, translation
from lab.report.page import Figure
from lab.results.findings import Findings
from lab.results.measurements import Results
from lab.results.stats import summarise
from stages.scaling.findings import (
    BUCKETS_OF,
    NETS,
    ComparedStep,
    bucket_steps,
    compared_steps,
    in_each_start,
)
from stages.scaling.measure.names import AT_LAST, AT_ONCE, COMPUTING, NOTES, NOTES_IMAGES
from stages.scaling.model import Model, models_of


def figures(results: Results, found: Findings) -> list[Figure]:
    virtual = on_virtual_devices(results.conditions)
    ready = plots.lines(
        [line(results, net, style) for net, style in zip(NETS, ("-", "--"), strict=True)],
        say("Time since the backward pass began (%)"),
        say("Gradient bytes ready (%)"),
        height=3.8,  # room for both names
        virtual=virtual,
    )
    steps = [largest_steps(results, net) for net in NETS]
    high = 0.95 + 0.42 * max(map(len, steps))  # inches per panel
    panels = [partial(draw_steps, each, virtual, high, with_key=each is steps[0]) for each in steps]
    return [Figure("scaling_steps", panels), Figure("scaling_ready", [ready])]


def largest_steps(results: Results, net: str) -> list[ComparedStep]:
    """Return a net's steps with the most images, steps in buckets last."""
    steps = [step for step in compared_steps(results) if step.net == net]
    most = max(step.images for step in steps)
    found = [step for step in steps if step.images == most]
    return found + (list(bucket_steps(results).values()) if net == BUCKETS_OF else [])


def draw_steps(
    steps: Sequence[ComparedStep], virtual: bool, height: float, path: Path, *, with_key: bool
) -> None:
    """Draw steps as bars of their parts, with the measured times on top."""
    with house.figure(path, house.WIDTH, height) as fig:
        axes = fig.add_subplot(xlabel=say("Time per step (ms)"))
        title = say("{net}, {n} images on each device", net=TITLES[steps[0].net], n=steps[0].images)
        axes.set_title(title, x=0)
        for row, step in enumerate(steps):
            draw_step(axes, row, step, virtual)
        plots.name_rows(axes, [plots.in_two_lines(translation(s.allreduce)) for s in steps])
        axes.set_xlim(0, None)
        if with_key:
            house.key(fig, axes)


def draw_step(axes: Axes, row: int, step: ComparedStep, virtual: bool) -> None:
    """Draw a step as one row; the first row carries the key's labels."""
    t1, t2, taken = (summarise(each.values) for each in (step.t1, step.t2, step.measured))
    parts = {
        say("t₁: computing"): (0.0, t1.median),
        say("t₂: communicating"): (t1.median, t2.median),
    }
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
        max(t1.median, t2.median),
        row,
        "D",
        color=house.INK,
        fillstyle="none",
        markersize=7,
        label="_longer" if row else say("max(t₁, t₂)"),
    )


def line(results: Results, net: str, style: str) -> plots.Line:
    """Return the ready share of a net's gradient bytes over time, as a step function."""
    found = sorted(
        (m.summary.median, m.x)
        for name in results.variants("gradient ready", net=net)
        for m in results.series("gradient ready", name, net=net)
    )
    x = [100 * at / found[-1][0] for at, _ in found for _ in range(2)]
    so_far = [0.0, *accumulate(num_bytes for _, num_bytes in found)]
    y = [100 * sum_ / so_far[-1] for pair in pairwise(so_far) for sum_ in pair]
    return plots.Line(TITLES[net], [0, *x], [0, *y], style=style)


# --- tables


def values(results: Results, found: Findings) -> dict[str, object]:
    n = results.conditions["world_size"]
    model, other = models_of(results)
    steps = [step_row(step) for step in compared_steps(results)]
    by_kind = dict(zip((model.shared, other.shared), ("unseen", "other"), strict=True))
    return {
        "batch": n * NOTES_IMAGES["lenet"],
        "notes_images": NOTES_IMAGES["resnet18"],
        "most_images": int(results.xs("step", COMPUTING, net="resnet18")[-1]),
        "few": model.few,
        "many": model.many,
        "predicts": bool(found["unseen_error_percent"]),
        "shared_error_percent": found[f"{by_kind[True]}_error_percent"],  # one link for all ranks
        "own_error_percent": found[f"{by_kind[False]}_error_percent"],  # one link per rank
        "gradients": [gradients(results, found, model, net) for net in NETS],
        "messages": list(messages(results, model)),
        "buckets": list(buckets(results)),
        "longer": sum(step["measured"] > step["sum"] for step in steps),
        "steps": steps,
        "nearer": starts_nearer_the_sum(results),
        "fewest_images": int(min(results.xs("step", COMPUTING, net="lenet"))),
    }


def starts_nearer_the_sum(results: Results) -> int:
    """Count the processes in which t1 + t2 is nearer to the steps, on average, than max(t1, t2)."""
    compared = compared_steps(results)
    added = in_each_start(compared, lambda added, _: added)
    overlapped = in_each_start(compared, lambda _, overlapped: overlapped)
    return sum(a < b for a, b in zip(added.values, overlapped.values, strict=True))


def step_row(step: ComparedStep) -> dict[str, Any]:
    """Return the medians of a step and its parts in ms; parts are summed in each process."""
    parts = {"t1": step.t1, "t2": step.t2, "sum": step.t1 + step.t2, "measured": step.measured}
    return {
        "net": TITLES[step.net],
        "allreduce": translation(step.allreduce),
        "images": step.images,
        **{name: median(each.values) for name, each in parts.items()},
    }


def gradients(results: Results, found: Findings, model: Model, net: str) -> dict[str, object]:
    """Describe a net's gradients, and the star's gain from joining them into one bucket."""
    [m] = results.series("gradients", NOTES, net=net)
    tensors = int(m.columns["tensors"])
    each, joined = (
        allreduce_s(STAR, model.few, count, m.x, model.link, model.shared) for count in (tensors, 1)
    )
    messages = allreduce_path(STAR, model.few, tensors, m.x, model.shared).messages
    return {
        "title": TITLES[net],
        "tensors": tensors,
        "mb": m.x / 1e6,
        "gain": found[f"{net}_bucket_speedup"],
        "predicted": each / joined,
        "latency": messages * model.link.alpha_s / each,  # share of the time, one tensor at a time
    }


def messages(results: Results, model: Model) -> Iterator[dict[str, object]]:
    """Yield all-reduces of the smallest and largest message among the fewest and most ranks."""
    for n in dict.fromkeys((model.few, model.many)):
        sizes = results.xs("message", STAR, ranks=n)
        for size in dict.fromkeys((sizes[0], sizes[-1])):
            for name in ALGORITHMS:
                ms = median(results.samples("message", name, size, ranks=n).values)
                row = {"ranks": n, "mb": size / 1e6, "name": name, "ms": ms}
                row["rate"] = bus_bandwidth(size, n, ms / 1e3) / 1e9
                if name in MODELLED:
                    path = allreduce_path(name, n, 1, size, model.shared)
                    row |= {"model": 1e3 * path.seconds(model.link)}
                    row |= {"sent": bytes_sent(name, n, size) / 1e6}
                yield row


def buckets(results: Results) -> Iterator[dict[str, object]]:
    """Yield the ms that the all-reduce adds to a step, after and during the backward pass."""
    for mib in results.xs("bucket step", AT_ONCE, net=BUCKETS_OF):
        steps = bucket_steps(results, mib)
        after, during = (
            median((steps[when].measured - steps[when].t1).values) for when in (AT_LAST, AT_ONCE)
        )
        yield {"mib": f"{mib:g}", "after": after, "during": during}
