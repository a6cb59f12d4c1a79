"""The report's section on parallelism (13.5, 13.7): what devices send each other and hold."""

from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from lab.core.files import read_json, read_rows
from lab.report import figures
from lab.report.benchmarks import devices_in_words, ratio_text, trust
from lab.report.language import say
from lab.report.page import Figure, Section, Table, TryThis
from lab.results.curves import Curve, curves_of
from lab.results.stats import speedup
from stages.parallelism.names import (
    ACTIVATIONS_MB,
    COUNTED,
    DATA,
    DIFFERENCE_EPS,
    FLOP_PER_BYTE,
    HELD_MB,
    IDLE_BY_FLOP_PERCENT,
    IDLE_PERCENT,
    INCEPTION_OVER_RESNET,
    LARGEST_DIFFERENCE_EPS,
    LENET_STEP_MS,
    MOST_SENT,
    MOVED_MB,
    NOTES_ALLREDUCE,
    NOTES_NETS,
    ONE,
    PARAMS_MB,
    PIPELINE,
    PIPELINE_IDLE,
    PIPELINE_IDLE_BY_FLOP,
    RESNET_18,
    RESNET_50,
    RESNET_OVER_ALEXNET,
    SHARDED_ALLREDUCE,
    TENSOR,
    WIDE_STATE_MB,
    WIDE_STEP_MS,
    crossing_images,
    kind_and_devices,
    on_devices,
)

Demos = dict[str, dict[str, Curve]]


def section(folder: Path) -> Section:
    """The section on the results in `folder` (reports/parallelism)."""
    demos, m = curves_of(read_rows(folder / "rows.csv")), read_json(folder / "metrics.json")
    return Section(
        stage="parallelism",
        title=say("Parallelism: what devices send each other"),
        book="13.5, 13.7",
        question=say(
            "What do several devices send each other and hold in a step, and which"
            " networks bear it?"
        ),
        findings=[
            _times(demos),
            _what_is_sent(demos, m),
            _what_is_held(demos),
            _idle(demos, m),
            _who_adds(demos),
            _ratio(demos, m),
            trust(m),
        ],
        figures=[
            Figure(
                "parallelism",
                say(
                    "Bytes that devices send each other in a step, by batch size, for each kind of"
                    " parallelism."
                ),
                say(
                    "LeNet on {devices}; what is sent was counted as it was sent, at the two batch"
                    " sizes with a dot. Rings: the batch from which on data parallel moves less"
                    " than the kind.",
                    devices=devices_in_words(m["device_kind"]),
                ),
                partial(_draw_kinds, demos, m),
            ),
            Figure(
                "parallelism_ratio",
                say(
                    "FLOP of a training step per byte of parameters, for seven networks, one image."
                ),
                say(
                    "Counted, forward and backward pass, float32, each network on images of its"
                    " own size and without auxiliary heads. A batch multiplies all of them alike."
                ),
                partial(_draw_ratio, demos),
            ),
        ],
        tables=[_kinds_table(demos), _times_table(demos)],
        try_this=TryThis(
            "parallelism.num_micro_batches",
            "2",
            say("see which share of the time a pipeline is idle"),
        ),
    )


# --- kinds of parallelism


def _on_several(demos: Demos) -> list[str]:
    """The series of several devices."""
    return [name for name in demos[MOVED_MB] if name != ONE]


def _device_counts(demos: Demos) -> list[int]:
    """The numbers of devices, growing."""
    found = {kind_and_devices(name)[1].partition(" ")[0] for name in _on_several(demos)}
    return sorted(map(int, found))


def _slower(demos: Demos, demo: str, kind: str) -> str:
    """How many times as long a kind's step takes as data parallelism's, with its interval."""
    return ratio_text(speedup(list(demos[demo][kind].y), list(demos[demo][DATA].y)))


def _times(demos: Demos) -> str:
    return say(
        "Side by side on two devices, a step of LeNet takes {ms:.3g} ms by data parallelism;"
        " {pipeline} of that by a pipeline of micro-batches, {tensor} tensor parallel. Of a net"
        " that is nearly all parameters, it is {wide_pipeline} and {wide_tensor}.",
        ms=np.median(demos[LENET_STEP_MS][DATA].y),
        pipeline=_slower(demos, LENET_STEP_MS, PIPELINE),
        tensor=_slower(demos, LENET_STEP_MS, TENSOR),
        wide_pipeline=_slower(demos, WIDE_STEP_MS, PIPELINE),
        wide_tensor=_slower(demos, WIDE_STEP_MS, TENSOR),
    )


def _who_adds(demos: Demos) -> str:
    notes, shared = (demos[MOST_SENT][name] for name in (NOTES_ALLREDUCE, SHARDED_ALLREDUCE))
    return say(
        "In the notes' all-reduce over {n:.0f} devices the one that adds sends the gradient"
        " {notes:.3g} times. If each device adds a share, whole numbers have the same sum, and none"
        " sends more than {shared:.3g} times the gradient.",
        n=notes.x[-1],
        notes=notes.y[-1],
        shared=shared.y[-1],
    )


def _times_table(demos: Demos) -> Table:
    def row(demo: str, net: str, kind: str) -> list[str]:
        ms, state = np.median(demos[demo][kind].y), demos[WIDE_STATE_MB][kind]
        held = f"{state.y[list(state.x).index(2)]:.3g}" if demo == WIDE_STEP_MS else ""
        return [kind, net, f"{ms:.3g}", "" if kind == DATA else _slower(demos, demo, kind), held]

    nets = {LENET_STEP_MS: "LeNet", WIDE_STEP_MS: say("four dense layers")}
    return Table(
        [
            say("two devices side by side"),
            say("of which net"),
            say("ms a step, the median"),
            say("over data parallelism"),
            say("MB of parameters and gradients on the fuller device"),
        ],
        [row(demo, net, kind) for demo, net in nets.items() for kind in (DATA, PIPELINE, TENSOR)],
        say(
            "A step of the larger batch, forward, backward and update. The pipeline goes in"
            " micro-batches; what it holds does not depend on them."
        ),
    )


def _what_is_sent(demos: Demos, m: dict[str, Any]) -> str:
    count = _device_counts(demos)[-1]
    pipeline, tensor = (m[crossing_images(on_devices(kind, count))] for kind in (PIPELINE, TENSOR))
    levels = {float(y) for y in demos[MOVED_MB][on_devices(DATA, count)].y}
    is_level = len(levels) == 1
    return say(
        "All kinds give the gradient of one device, to {eps:.0f} roundings of float64. Data"
        " parallel moves parameters, {level}; the others move activations, which grow with the"
        " batch: with {n} devices data parallel moves less from {pipeline:.0f} images (pipeline)"
        " and {tensor:.0f} images (tensor parallel) on.",
        eps=m[LARGEST_DIFFERENCE_EPS],
        n=count,
        pipeline=pipeline,
        tensor=tensor,
        level=say("the same at every batch size")
        if is_level
        else say("NOT the same at every batch size"),
    )


def _what_is_held(demos: Demos) -> str:
    held, weights, names = demos[HELD_MB], demos[PARAMS_MB], _on_several(demos)
    least = min(names, key=lambda name: held[name].y[-1])
    least_weights = min(names, key=lambda name: weights[name].y[-1])
    return say(
        "At {n:.0f} images the fullest device has least to hold with {least} ({mb:.1f} of"
        " {one_mb:.1f} MB), of parameters alone with {least_weights} ({weights_mb:.2g} of"
        " {one_weights_mb:.2g} MB): that is what a net needs that one device cannot hold.",
        n=held[least].x[-1],
        least=least,
        mb=held[least].y[-1],
        one_mb=held[ONE].y[-1],
        least_weights=least_weights,
        weights_mb=weights[least_weights].y[-1],
        one_weights_mb=weights[ONE].y[-1],
    )


def _idle(demos: Demos, m: dict[str, Any]) -> str:
    count, of_idle = _device_counts(demos)[-1], demos[IDLE_BY_FLOP_PERCENT]
    [chained] = {kind_and_devices(name)[0] for name in of_idle} - {PIPELINE}
    found = {
        "pipeline": on_devices(chained, count),
        "idle": m[PIPELINE_IDLE],
        "by_flop": m[PIPELINE_IDLE_BY_FLOP],
    }
    if m[PIPELINE_IDLE_BY_FLOP] <= m[PIPELINE_IDLE] + 1:
        return say(
            "A {pipeline} is idle {idle:.0f} % of the time if its parts take equally long, and"
            " {by_flop:.0f} % by their FLOP.",
            **found,
        )
    return say(
        "A {pipeline} is idle {idle:.0f} % of the time if its parts take equally long; by their"
        " FLOP they do not, and it is {by_flop:.0f} %: a cut between layers cannot divide LeNet's"
        " second convolution, which is most of the work.",
        **found,
    )


def _kinds_table(demos: Demos) -> Table:
    def row(name: str) -> list[str]:
        small, large = demos[MOVED_MB][name].y
        held = [demos[part][name].y[-1] for part in (HELD_MB, PARAMS_MB, ACTIVATIONS_MB)]
        rounding, idle = (demos[what][name].y[0] for what in (DIFFERENCE_EPS, IDLE_PERCENT))
        by_flop = demos[IDLE_BY_FLOP_PERCENT].get(name)
        return [
            name,
            f"{small:.3g}",
            f"{large:.3g}",
            *(f"{mb:.3g}" for mb in held),
            f"{rounding * 2**-52:.1g}",
            f"{idle:.0f} %" + (f" ({by_flop.y[0]:.0f} %)" if by_flop else ""),
        ]

    few, many = demos[MOVED_MB][ONE].x
    return Table(
        [
            say("LeNet, one step"),
            *(say("MB moved, {n:.0f} images", n=n) for n in (few, many)),
            say("MB on the fullest device"),
            say("largest parameters"),
            say("largest activations"),
            say("gradient differs by"),
            say("idle"),
        ],
        [row(name) for name in demos[MOVED_MB]],
        say(
            "Counted as the steps ran. Memory at {n:.0f} images: parameters, as much again for"
            " gradients, and what is kept for the backward pass; each column is that of the device"
            " that has most of it. Differences are relative, in float64. Idle: of a schedule whose"
            " parts take equally long, in brackets by their FLOP.",
            n=many,
        ),
    )


def _draw_kinds(demos: Demos, m: dict[str, Any], path: Path) -> None:
    counts, moved = _device_counts(demos), demos[MOVED_MB]
    virtual = " (virtual)" if m["device_kind"] == "cpu-virtual" else ""
    every = np.concatenate([moved[name].y for name in _on_several(demos)])
    # before the labels, whose places depend on them
    limits = (every.min() / 1.5, every.max() * 1.5)
    with figures.figure(path, 5.4 * len(counts), 3.8) as fig:
        panels = fig.subplots(1, len(counts), squeeze=False)[0]
        for axes, count in zip(panels, counts, strict=True):
            found = [moved[on_devices(kind, count)] for kind in (DATA, PIPELINE, TENSOR)]
            devices = kind_and_devices(found[0].series)[1]
            axes.set(
                xscale="log", yscale="log", xlabel="images per step", title=f"{devices}{virtual}"
            )
            axes.set(xlim=(found[0].x[0] / 1.2, found[0].x[-1] * 1.2), ylim=limits)
            for c, colour in zip(found, figures.COLOURS, strict=False):
                axes.plot(c.x, c.y, "o-", color=colour, markersize=4)
            for c, colour in zip(found[1:], figures.COLOURS[1:], strict=False):
                crossing = m[crossing_images(c.series)]
                if c.x[0] <= crossing <= c.x[-1]:
                    axes.plot(
                        crossing, found[0].y[0], "o", color=colour, markersize=11, fillstyle="none"
                    )
                    axes.annotate(
                        f"{crossing:.0f}",
                        (crossing, found[0].y[0]),
                        (0, -18),
                        ha="center",
                        color=colour,
                        textcoords="offset points",
                    )
            figures.plain_ticks(axes.xaxis)
            figures.plain_ticks(axes.yaxis)
            ends = [
                (kind_and_devices(c.series)[0], c.x[-1], c.y[-1], colour)
                for c, colour in zip(found, figures.COLOURS, strict=False)
            ]
            figures.label_ends(axes, ends, gap=0.08)
        panels[0].set_ylabel("MB moved per step")


# --- FLOP per byte of parameters


def _ratio(demos: Demos, m: dict[str, Any]) -> str:
    to_resnet, to_alexnet = m[INCEPTION_OVER_RESNET], m[RESNET_OVER_ALEXNET]
    order = (
        say(
            "The notes' order holds: FLOP per byte of parameters fall from Inception over ResNet"
            " (by {to_resnet:.2f}x at least) to AlexNet ({to_alexnet:.0f}x).",
            to_resnet=to_resnet,
            to_alexnet=to_alexnet,
        )
        if min(to_resnet, to_alexnet) > 1
        else say("The notes' order, Inception over ResNet over AlexNet, does NOT hold.")
    )
    small, large = NOTES_NETS
    per_image = {name: float(c.y[0]) for name, c in demos[FLOP_PER_BYTE].items()}
    of_small, of_large = (per_image[name] for name in NOTES_NETS)
    is_less = max(of_small, of_large) < min(per_image[RESNET_18], per_image[RESNET_50])
    own = say(
        "What the notes train has {rank}, per image: {small} {of_small:.0f} and {large}"
        " {of_large:.0f} FLOP per byte.",
        rank=say("less than any ResNet at 224")
        if is_less
        else say("not less than the ResNets at 224"),
        small=small,
        of_small=of_small,
        large=large,
        of_large=of_large,
    )
    return f"{order} {own}"


def _draw_ratio(demos: Demos, path: Path) -> None:
    found = sorted((float(c.y[0]), name) for name, c in demos[FLOP_PER_BYTE].items())
    counted = demos[COUNTED]
    with figures.figure(path, 9, 3.6) as fig:
        axes = fig.add_subplot(
            xscale="log", xlabel="FLOP of a training step per byte of parameters, one image"
        )
        for i, (value, name) in enumerate(found):
            colour = figures.COLOURS[1 if name in NOTES_NETS else 0]
            axes.plot(value, i, "o", color=colour, markersize=8)
            [mb], [gflop] = counted[name].x, counted[name].y
            whose = ", the notes" if name in NOTES_NETS else ""
            text = f"{name}{whose}: {value:.0f} ({gflop:.3g} GFLOP, {mb:.3g} MB)"
            axes.annotate(
                text, (value, i), (10, 0), textcoords="offset points", va="center", color=colour
            )
        axes.set(
            yticks=[], ylim=(-0.7, len(found) - 0.3), xlim=(found[0][0] / 1.3, found[-1][0] * 25)
        )
        figures.plain_ticks(axes.xaxis)
        axes.spines["left"].set_visible(False)
