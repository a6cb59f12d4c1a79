"""The report's section on parallelism (13.5, 13.7): what several devices send each other and hold
in a step.
"""

from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from lab.core.files import read_json, read_rows
from lab.report import figures
from lab.report.benchmarks import devices_in_words
from lab.report.language import say
from lab.report.page import Figure, Section, Table, TryThis
from lab.results.curves import Curve, curves_of, key

Demos = dict[str, dict[str, Curve]]
# as stages/parallelism
ONE, DATA, PIPELINE, TENSOR = "one device", "data parallel", "pipeline", "tensor parallel"
NOTES_NETS = ("LeNet", "ResNet-18 (28 x 28)")


def section(folder: Path) -> Section:
    """Return the section of `folder` (reports/parallelism)."""
    demos, m = curves_of(read_rows(folder / "rows.csv")), read_json(folder / "metrics.json")
    return Section(
        stage="parallelism",
        title=say("Parallelism: what devices send each other"),
        book="13.5, 13.7",
        question=say(
            "What do several devices send each other and hold in a step, and which"
            " networks bear it?"
        ),
        findings=[*_findings(demos, m), *_ratio(demos, m)],
        figures=[
            Figure(
                "parallelism",
                say(
                    "Bytes that devices send each other in a step, by batch size, for each kind of"
                    " parallelism."
                ),
                say(
                    "LeNet on {devices}; what is sent was counted as it was sent, at the two batch"
                    " sizes with a"
                    " dot. Rings: the batch from which on data parallel moves less than the kind.",
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
                    " own size and"
                    " without auxiliary heads. A batch multiplies all of them alike."
                ),
                partial(_draw_ratio, demos),
            ),
        ],
        tables=[_kinds_table(demos)],
        try_this=TryThis(
            "parallelism.num_micro_batches",
            "2",
            say("see which share of the time a pipeline is idle"),
        ),
    )


# --- kinds
# --------------------------------------------------------------------------------------------------------


def _kinds(demos: Demos) -> list[tuple[str, str]]:
    """Return the kinds as (series, what follows the comma), the one device apart."""
    return [(name, name.partition(", ")[2]) for name in demos["moved_mb"] if name != ONE]


def _findings(demos: Demos, m: dict[str, Any]) -> list[str]:
    return [_what_is_sent(demos, m), _what_is_held(demos), _idle(demos, m)]


def _what_is_sent(demos: Demos, m: dict[str, Any]) -> str:
    devices = _kinds(demos)[-1][1]
    pipeline, tensor = (
        m[f"{key(kind)}_{key(devices)}_crossing_images"] for kind in (PIPELINE, TENSOR)
    )
    levels = {float(y) for y in demos["moved_mb"][f"{DATA}, {devices}"].y}
    is_level = len(levels) == 1
    return say(
        "All kinds give the gradient of one device, to {eps:.0f} roundings of float64. Data"
        " parallel moves"
        " parameters, {level}; the others move activations, which grow with the batch: with {n}"
        " devices data"
        " parallel moves less from {pipeline:.0f} images (pipeline) and {tensor:.0f} images"
        " (tensor parallel) on.",
        eps=m["largest_difference_eps"],
        n=devices.split()[0],
        pipeline=pipeline,
        tensor=tensor,
        level=say("the same at every batch size")
        if is_level
        else say("NOT the same at every batch size"),
    )


def _what_is_held(demos: Demos) -> str:
    held, weights = demos["total_mb"], demos["params_mb"]
    names = [name for name, _ in _kinds(demos)]
    least = min(names, key=lambda name: held[name].y[-1])
    least_weights = min(names, key=lambda name: weights[name].y[-1])
    return say(
        "At {n:.0f} images the fullest device has least to hold with {least} ({mb:.1f} of"
        " {one_mb:.1f} MB), of"
        " parameters alone with {least_weights} ({weights_mb:.2g} of {one_weights_mb:.2g} MB):"
        " that is what a net"
        " needs that one device cannot hold.",
        n=held[least].x[-1],
        least=least,
        mb=held[least].y[-1],
        one_mb=held[ONE].y[-1],
        least_weights=least_weights,
        weights_mb=weights[least_weights].y[-1],
        one_weights_mb=weights[ONE].y[-1],
    )


def _idle(demos: Demos, m: dict[str, Any]) -> str:
    name = [name for name, _ in _kinds(demos) if name.startswith(f"{PIPELINE} of ")][-1]
    idle, by_flop = (m[f"{key(name)}_{how}_percent"] for how in ("idle", "idle_by_flop"))
    if by_flop <= idle + 1:
        return say(
            "A {pipeline} is idle {idle:.0f} % of the time if its parts take equally long, and"
            " {by_flop:.0f} % by"
            " their FLOP.",
            pipeline=name,
            idle=idle,
            by_flop=by_flop,
        )
    return say(
        "A {pipeline} is idle {idle:.0f} % of the time if its parts take equally long; by their"
        " FLOP they do not,"
        " and it is {by_flop:.0f} %: a cut between layers cannot divide LeNet's second"
        " convolution, which is most"
        " of the work.",
        pipeline=name,
        idle=idle,
        by_flop=by_flop,
    )


def _kinds_table(demos: Demos) -> Table:
    def row(name: str) -> list[str]:
        small, large = demos["moved_mb"][name].y
        held = [demos[f"{part}_mb"][name].y[-1] for part in ("total", "params", "activations")]
        rounding, idle = (demos[what][name].y[0] for what in ("difference_eps", "idle_percent"))
        by_flop = demos["idle_by_flop_percent"].get(name)
        return [
            name,
            f"{small:.3g}",
            f"{large:.3g}",
            *(f"{mb:.3g}" for mb in held),
            f"{rounding * 2**-52:.1g}",
            f"{idle:.0f} %" + (f" ({by_flop.y[0]:.0f} %)" if by_flop else ""),
        ]

    few, many = demos["moved_mb"][ONE].x
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
        [row(name) for name in demos["moved_mb"]],
        say(
            "Counted as the steps ran. Memory at {n:.0f} images: parameters, as much again for"
            " gradients, and what"
            " is kept for the backward pass; each column is that of the device that has most of"
            " it. Differences are"
            " relative, in float64. Idle: of a schedule whose parts take equally long, in brackets"
            " by their FLOP.",
            n=many,
        ),
    )


def _draw_kinds(demos: Demos, m: dict[str, Any], path: Path) -> None:
    groups = list(dict.fromkeys(devices for _, devices in _kinds(demos)))
    virtual = " (virtual)" if m["device_kind"] == "cpu-virtual" else ""
    every = np.concatenate([c.y for name, c in demos["moved_mb"].items() if name != ONE])
    limits = (
        every.min() / 1.5,
        every.max() * 1.5,
    )  # before the labels, whose places depend on them
    with figures.figure(path, 5.4 * len(groups), 3.8) as fig:
        panels = fig.subplots(1, len(groups), squeeze=False)[0]
        for axes, devices in zip(panels, groups, strict=True):
            found = [demos["moved_mb"][f"{kind}, {devices}"] for kind in (DATA, PIPELINE, TENSOR)]
            axes.set(
                xscale="log", yscale="log", xlabel="images per step", title=f"{devices}{virtual}"
            )
            axes.set(xlim=(found[0].x[0] / 1.2, found[0].x[-1] * 1.2), ylim=limits)
            for c, colour in zip(found, figures.COLOURS, strict=False):
                axes.plot(c.x, c.y, "o-", color=colour, markersize=4)
            for c, colour in zip(found[1:], figures.COLOURS[1:], strict=False):
                crossing = m[f"{key(c.series)}_crossing_images"]
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
                (c.series.partition(", ")[0], c.x[-1], c.y[-1], colour)
                for c, colour in zip(found, figures.COLOURS, strict=False)
            ]
            figures.label_ends(axes, ends, gap=0.08)
        panels[0].set_ylabel("MB moved per step")


# --- ratio --------------------------------------------------------------------------------------------------------


def _ratio(demos: Demos, m: dict[str, Any]) -> list[str]:
    order = (
        say(
            "The notes' order holds: FLOP per byte of parameters fall from Inception over ResNet"
            " (by"
            " {to_resnet:.2f}x at least) to AlexNet ({to_alexnet:.0f}x).",
            to_resnet=m["ratio_inception_over_resnet"],
            to_alexnet=m["ratio_resnet_over_alexnet"],
        )
        if m["ratio_notes_order_holds"] == "yes"
        else say("The notes' order, Inception over ResNet over AlexNet, does NOT hold.")
    )
    small, large = NOTES_NETS
    of_small, of_large = (m[f"ratio_{key(name)}_flop_per_byte"] for name in NOTES_NETS)
    least = min(m["ratio_resnet_18_flop_per_byte"], m["ratio_resnet_50_flop_per_byte"])
    is_less = max(of_small, of_large) < least
    own = say(
        "What the notes train has {rank}, per image: {small} {of_small:.0f} and {large}"
        " {of_large:.0f} FLOP per"
        " byte.",
        rank=say("less than any ResNet at 224")
        if is_less
        else say("not less than the ResNets at 224"),
        small=small,
        of_small=of_small,
        large=large,
        of_large=of_large,
    )
    return [f"{order} {own}"]


def _draw_ratio(demos: Demos, path: Path) -> None:
    found = sorted((float(c.y[0]), name) for name, c in demos["ratio_flop_per_byte"].items())
    counted = demos["ratio_counted"]
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
