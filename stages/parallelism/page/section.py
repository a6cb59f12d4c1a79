"""The report's section on parallelism (13.5, 13.7): what devices send each other and hold."""

from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import LogLocator, MaxNLocator

from lab.report import figures
from lab.report.benchmarks import devices_in_words, read, trust, undecided
from lab.report.language import say, translation
from lab.report.page import Figure, Section, Table, TryThis
from lab.results.measurements import Curve, Measurement, Results, curve_of
from lab.results.stats import Ratio, speedup
from stages.parallelism.measure.names import (
    DATA,
    DENSE,
    INCEPTION_OVER_RESNET,
    LENET,
    NOTES_ALLREDUCE,
    NOTES_NETS,
    ONE,
    PIPELINE,
    RESNET_18,
    RESNET_50,
    RESNET_OVER_ALEXNET,
    SHARDED_ALLREDUCE,
    TENSOR,
    crossing_images,
)
from stages.parallelism.measure.schedule import idle_share, schedule
from stages.parallelism.page import torch_section
from stages.parallelism.page.torch_section import value

KINDS = (DATA, PIPELINE, TENSOR)
COLOURS = dict(zip(KINDS, figures.COLOURS, strict=False))
MARKERS = {DATA: "o-", PIPELINE: "s--", TENSOR: "^-."}


def section(folder: Path) -> Section:
    """The section on the results in `folder` (reports/parallelism)."""
    results, m = read(folder)
    devices, micro_batches = _longest_pipeline(results)
    no_times = undecided(m, "parallelism")
    virtual = m["device_kind"] == "cpu-virtual"
    return Section(
        stage="parallelism",
        title=say("Parallelism: what devices send each other"),
        book="13.5, 13.7",
        question=say(
            "What do several devices send each other and hold in a step, and which"
            " networks can afford it?"
        ),
        answer=_answer(results, m),
        findings=[
            _same_gradient(m),
            *_what_is_held(results),
            _who_adds(results),
            *_idle(m, devices, micro_batches),
            *torch_section.findings(results),
            *_ratio(results, m),
            *([no_times] if no_times else trust(m)),
        ],
        figures=[
            Figure(
                "parallelism",
                say(
                    "Megabytes that devices send each other in a step, by batch size, for each kind"
                    " of parallelism."
                ),
                say(
                    "LeNet on {devices}. Marks are counted while a step runs, lines join them."
                    " Dotted: the batch from which on data parallelism sends less.",
                    devices=devices_in_words(m["device_kind"]),
                ),
                [
                    partial(_draw_sent, results, m, count, virtual)
                    for count in _device_counts(results)
                ],
            ),
            *([] if no_times else [_figure_of_times(results, m)]),
            Figure(
                "parallelism_pipeline",
                say(
                    "When each device of a pipeline works on which micro-batch, and when it idles."
                ),
                say(
                    "Computed, for parts that take equally long: a box is a micro-batch on its way"
                    " through the devices, blank is idle. The backward pass is the mirror image."
                ),
                [partial(_draw_pipeline, devices, micro_batches)],
            ),
            Figure(
                "parallelism_ratio",
                say(
                    "FLOP of a training step per byte of parameters, for seven networks, one image."
                ),
                say(
                    "Counted, forward and backward pass, float32, each network on images of its"
                    " own size and without auxiliary heads. Orange: what the notes train. A batch"
                    " multiplies all bars alike."
                ),
                [partial(_draw_ratio, results)],
            ),
        ],
        tables=[
            _kinds_table(results),
            *([] if no_times else [_times_table(results)]),
            torch_section.table(results),
            _networks_table(results),
        ],
        try_this=TryThis(
            "parallelism.num_micro_batches",
            "2",
            say(
                "How long does a pipeline over {n} devices idle with 2 micro-batches in place of"
                " {m}?",
                n=devices,
                m=micro_batches,
            ),
            say(
                "{few:.0f} % of the time in place of {many:.0f} %. If parts take equally long, n"
                " devices and m micro-batches leave (n − 1) / (m + n − 1) of the time unused:"
                " fewer micro-batches, longer waits.",
                few=_idle_percent(devices, 2),
                many=_idle_percent(devices, micro_batches),
            ),
        ),
        of_times=False,
    )


def _figure_of_times(results: Results, m: Mapping[str, Any]) -> Figure:
    return Figure(
        "parallelism_times",
        say("Time of a step on two devices by each kind of parallelism, for two networks."),
        say(
            "Bars are medians, dots the starts of the process from top to bottom. The"
            " pipeline goes in micro-batches. “times”: against data parallelism."
        ),
        [
            partial(_draw_times, results, net, m["device_kind"] == "cpu-virtual")
            for net in (LENET, DENSE)
        ],
    )


# --- kinds of parallelism


def _kinds(results: Results) -> list[Measurement]:
    """What LeNet sends by the larger batch, of each kind and number of devices."""
    found = [
        m for m in results.measurements if (m.experiment, m.columns.get("net")) == ("sent", LENET)
    ]
    largest = max(m.x for m in found)
    return [m for m in found if m.x == largest]


def _on_several(results: Results) -> list[Measurement]:
    return [m for m in _kinds(results) if m.variant != ONE]


def _beside(results: Results, experiment: str, m: Measurement) -> float:
    """What else was counted of a kind."""
    return value(results, experiment, m.variant, **m.columns)


def _device_counts(results: Results) -> list[int]:
    return sorted({int(m.columns["devices"]) for m in _on_several(results)})


def _longest_pipeline(results: Results) -> tuple[int, int]:
    """The most devices of a pipeline, and its micro-batches."""
    longest = max(results.series("idle by FLOP", PIPELINE), key=_devices_and_micro_batches)
    return _devices_and_micro_batches(longest)


def _devices_and_micro_batches(m: Measurement) -> tuple[int, int]:
    return int(m.columns["devices"]), int(m.columns.get("micro_batches", 1))


def _in_words(m: Measurement) -> str:
    """A kind of parallelism and its devices, as the page calls them."""
    n, micro_batches = _devices_and_micro_batches(m)
    if m.variant == ONE:
        return translation(ONE)
    kind = translation(m.variant)
    if micro_batches > 1:
        kind = say("pipeline of {n} micro-batches", n=micro_batches)
    return say("{kind}, {n} devices", kind=kind, n=n)


def _step_times(results: Results, net: str, kind: str) -> tuple[float, ...]:
    [m] = results.series("step", kind, net=net)
    return m.values


def _over_data(results: Results, net: str, kind: str) -> Ratio:
    """How many times as long a kind's step takes as data parallelism's."""
    return speedup(_step_times(results, net, kind), _step_times(results, net, DATA))


def _sent(results: Results, kind: str, n: int) -> Curve:
    """What LeNet sends by batch; of a pipeline without micro-batches, which change none of it."""
    columns = {"micro_batches": 1} if kind == PIPELINE else {}
    return curve_of(results.series("sent", kind, net=LENET, devices=n, **columns))


def _answer(results: Results, m: Mapping[str, Any]) -> str:
    n = _device_counts(results)[0]
    sent = set(_sent(results, DATA, n).y)
    if len(sent) > 1:
        return say("What data parallelism sends is NOT the same at every batch size here.")
    return say(
        "Data parallelism over {n} devices always sends {mb:.3g} MB a step; a pipeline sends more"
        " from {pipeline:.0f} images on, tensor parallelism from {tensor:.0f}.",
        n=n,
        mb=sent.pop(),
        pipeline=m[crossing_images(PIPELINE, n)],
        tensor=m[crossing_images(TENSOR, n)],
    )


def _same_gradient(m: Mapping[str, Any]) -> str:
    return say(
        "Every scheme reproduces the single-device gradient to within {eps:.0f} float64 rounding"
        " units.",
        eps=m["largest_difference_eps"],
    )


def _what_is_held(results: Results) -> list[str]:
    [one] = (m for m in _kinds(results) if m.variant == ONE)
    held, weights = (partial(_beside, results, each) for each in ("held", "parameters held"))
    least, least_weights = (min(_on_several(results), key=each) for each in (held, weights))
    return [
        say(
            "At batch {n:.0f}, “{least}” has the lowest peak memory: {mb:.1f} MB on the fullest"
            " device, against {one_mb:.1f} MB on one.",
            n=least.x,
            least=_in_words(least),
            mb=held(least),
            one_mb=held(one),
        ),
        say(
            "For parameters alone it is “{least}” ({mb:.2g} of {one_mb:.2g} MB), which matters when"
            " a model does not fit on one device.",
            least=_in_words(least_weights),
            mb=weights(least_weights),
            one_mb=weights(one),
        ),
    ]


def _who_adds(results: Results) -> str:
    n = _device_counts(results)[-1]
    return say(
        "In the notes' all-reduce over {n:.0f} devices the adding device sends {notes:.3g} times"
        " the gradient; if each adds a share, none sends over {shared:.3g} times.",
        n=n,
        notes=value(results, "most sent", NOTES_ALLREDUCE, devices=n),
        shared=value(results, "most sent", SHARDED_ALLREDUCE, devices=n),
    )


def _idle(m: Mapping[str, Any], devices: int, micro_batches: int) -> list[str]:
    found = say(
        "Over {n} devices a pipeline of {m} micro-batches idles {idle:.0f} % of the time in equal"
        " parts, {by_flop:.0f} % in LeNet's layers.",
        n=devices,
        m=micro_batches,
        idle=m["pipeline_idle_percent"],
        by_flop=m["pipeline_idle_by_flop_percent"],
    )
    if m["pipeline_idle_by_flop_percent"] <= m["pipeline_idle_percent"] + 1:
        return [found]
    why = say(
        "LeNet's second convolution is most of its FLOP, and a cut between layers cannot divide it."
    )
    return [found, why]


def _kinds_table(results: Results) -> Table:
    def row(m: Measurement) -> list[str]:
        numbers = [
            *(each.values[0] for each in results.series("sent", m.variant, **m.columns)),
            *(_beside(results, each, m) for each in ("held", "parameters held")),
        ]
        idle = "0 %"
        if m.variant == PIPELINE:
            equal = _idle_percent(*_devices_and_micro_batches(m))
            idle = f"{equal:.0f} % ({_beside(results, 'idle by FLOP', m):.0f} %)"
        return [_in_words(m), *(f"{mb:.3g}" for mb in numbers), idle]

    few, many = (m.x for m in results.series("sent", ONE, net=LENET))
    return Table(
        [
            say("LeNet, one step"),
            *(say("MB sent, batch {n:.0f}", n=n) for n in (few, many)),
            say("MB held"),
            say("MB of parameters"),
            say("idle"),
        ],
        [row(m) for m in _kinds(results)],
        say(
            "Counted as the steps ran. Held: parameters, as much again for gradients, and what is"
            " kept for the backward pass at batch {n:.0f}, on the device that has most. Idle: of a"
            " schedule whose parts take equally long, in brackets by their FLOP.",
            n=many,
        ),
    )


def _times_table(results: Results) -> Table:
    def row(net: str, kind: str) -> list[str]:
        ms, found = np.median(_step_times(results, net, kind)), _over_data(results, net, kind)
        ratio = say("{ratio:.3g} ({low:.3g} to {high:.3g})", ratio=found.median, **_ends(found))
        held = f"{value(results, 'state', kind, devices=2):.3g}" if net == DENSE else "–"
        name = say("{net}, {kind}", net=translation(net), kind=translation(kind))
        return [name, f"{ms:.3g}", "1" if kind == DATA else ratio, held]

    return Table(
        [
            say("a step on two devices"),
            say("ms"),
            say("times data parallelism"),
            say("MB of state"),
        ],
        [row(net, kind) for net in (LENET, DENSE) for kind in KINDS],
        say(
            "Medians, of the larger batch: forward, backward and update. State: parameters and"
            " gradients on the fuller device. The dense layers are nearly all parameters."
        ),
    )


def _ends(found: Ratio) -> dict[str, float]:
    """The ends of a ratio's interval."""
    return {"low": found.low, "high": found.high}


def _draw_sent(
    results: Results, m: Mapping[str, Any], count: int, virtual: bool, path: Path
) -> None:
    every = np.concatenate(
        [_sent(results, kind, n).y for kind in KINDS for n in _device_counts(results)]
    )
    curves = {kind: _sent(results, kind, count) for kind in KINDS}
    few, many = curves[DATA].x
    with figures.figure(path, figures.WIDTH, 3.2) as fig:
        axes = fig.add_subplot(xscale="log", yscale="log", title=say("{n} devices", n=count))
        axes.set(xlabel=say("images per step"), ylabel=say("MB sent per step"))
        # before the labels, whose places depend on them; below is room for the crossings' names
        axes.set(xlim=(few / 1.2, many * 1.2), ylim=(every.min() / 5, every.max() * 1.5))
        for kind, c in curves.items():
            axes.plot(c.x, c.y, MARKERS[kind], color=COLOURS[kind], markersize=5)
        crossings = {kind: m[crossing_images(kind, count)] for kind in KINDS[1:]}
        inside = {kind: at for kind, at in crossings.items() if few <= at <= many}
        for row, (kind, at) in enumerate(sorted(inside.items(), key=lambda item: item[1])):
            _draw_crossing(axes, at, curves[DATA].y[0], row, COLOURS[kind])
        figures.plain_ticks(axes.xaxis)
        figures.plain_ticks(axes.yaxis)
        axes.yaxis.set_major_locator(LogLocator())  # three decades: powers of ten suffice
        ends = [(translation(kind), c.x[-1], c.y[-1], COLOURS[kind]) for kind, c in curves.items()]
        figures.label_ends(axes, ends, gap=0.08)
        if virtual:
            figures.say_virtual(fig)


def _draw_crossing(axes: Axes, images: float, mb: float, row: int, colour: str) -> None:
    """Lead from a crossing down to its batch; the first name lies lowest, right of its line."""
    axes.plot([images, images], [axes.get_ylim()[0], mb], ":", color=colour, linewidth=1.5)
    left = row > 0
    axes.annotate(
        say("from {n:.0f} images", n=images),
        (images, 0.03 + 0.09 * row),
        (-4 if left else 4, 0),
        xycoords=("data", "axes fraction"),
        textcoords="offset points",
        ha="right" if left else "left",
        color=figures.text_colour(colour),
    )


def _draw_times(results: Results, net: str, virtual: bool, path: Path) -> None:
    times = {kind: _step_times(results, net, kind) for kind in KINDS}
    longest = max(map(max, times.values()))
    with figures.figure(path, figures.WIDTH, 2.0) as fig:
        axes = fig.add_subplot(title=translation(net), xlabel=say("ms per step"))
        for row, (kind, samples) in enumerate(times.items()):
            figures.bar_with_samples(axes, row, list(samples), COLOURS[kind], virtual)
            ms, ratio = (f"{np.median(samples):.3g}", _over_data(results, net, kind).median)
            axes.annotate(
                say("{ms} ms", ms=ms)
                if kind == DATA
                else say("{ms} ms: {ratio:.3g} times", ms=ms, ratio=ratio),
                (max(samples), row),
                (6, 0),
                textcoords="offset points",
                va="center",
            )
        axes.xaxis.set_major_locator(MaxNLocator(6, prune="upper"))
        axes.set_yticks(range(len(KINDS)), [translation(kind) for kind in KINDS])
        axes.set(xlim=(0, 1.65 * longest), ylim=(len(KINDS) - 0.4, -0.6))
        axes.grid(visible=False, axis="y")


# --- a pipeline's schedule


def _idle_percent(devices: int, micro_batches: int) -> float:
    return 100 * idle_share(schedule([1.0] * devices, micro_batches))


def _draw_pipeline(devices: int, micro_batches: int, path: Path) -> None:
    title = say(
        "Forward pass: idle {percent:.0f} % of the time",
        percent=_idle_percent(devices, micro_batches),
    )
    with figures.figure(path, figures.WIDTH, 0.9 + 0.34 * devices) as fig:
        axes = fig.add_subplot(title=title, xlabel=say("time, in micro-batches on a device"))
        for slot in schedule([1.0] * devices, micro_batches):
            colour = figures.COLOURS[slot.micro_batch % len(figures.COLOURS)]
            axes.barh(
                slot.device, 1, left=slot.start, height=0.86, color=colour, alpha=0.35, linewidth=0
            )
            axes.text(
                slot.start + 0.5, slot.device, f"{slot.micro_batch + 1}", ha="center", va="center"
            )
        axes.set_yticks(range(devices), [say("device {n}", n=i + 1) for i in range(devices)])
        axes.set(xlim=(0, devices + micro_batches - 1), ylim=(devices - 0.45, -0.55))
        axes.grid(visible=False)


# --- FLOP per byte of parameters


def _per_image(results: Results) -> dict[str, float]:
    """Each network's FLOP per byte of parameters for an image, the most first."""
    found = {
        name: value(results, "FLOP per byte", name) for name in results.variants("FLOP per byte")
    }
    return dict(sorted(found.items(), key=lambda item: -item[1]))


def _ratio(results: Results, m: Mapping[str, Any]) -> list[str]:
    to_resnet, to_alexnet = m[INCEPTION_OVER_RESNET], m[RESNET_OVER_ALEXNET]
    order = (
        say(
            "The notes' order holds: per byte of parameters Inception computes {to_resnet:.2f}"
            " times as much as ResNet, ResNet {to_alexnet:.0f} times as much as AlexNet.",
            to_resnet=to_resnet,
            to_alexnet=to_alexnet,
        )
        if min(to_resnet, to_alexnet) > 1
        else say("The notes' order, Inception over ResNet over AlexNet, does NOT hold.")
    )
    per_image = _per_image(results)
    of_small, of_large = (per_image[name] for name in NOTES_NETS)
    is_less = max(of_small, of_large) < min(per_image[RESNET_18], per_image[RESNET_50])
    own = say(
        "Per image and byte the notes' {small} computes {of_small:.0f} FLOP, their {large}"
        " {of_large:.0f}: {rank}.",
        rank=say("less than either ResNet at 224 pixels")
        if is_less
        else say("not less than the ResNets at 224 pixels"),
        small=translation(NOTES_NETS[0]),
        of_small=of_small,
        large=translation(NOTES_NETS[1]),
        of_large=of_large,
    )
    return [order, own]


def _networks_table(results: Results) -> Table:
    def row(name: str, flop_per_byte: float) -> list[str]:
        mb, gflop = (value(results, each, name) for each in ("parameters", "FLOP of an image"))
        return [translation(name), f"{gflop:.3g}", f"{mb:.3g}", f"{flop_per_byte:.3g}"]

    return Table(
        [say("network"), say("GFLOP per image"), say("MB of parameters"), say("FLOP per byte")],
        [row(name, value) for name, value in _per_image(results).items()],
        say("Training: forward and backward pass of one image. ResNet-18 without a size: at 224."),
    )


def _draw_ratio(results: Results, path: Path) -> None:
    found = _per_image(results)
    with figures.figure(path, figures.WIDTH, 2.7) as fig:
        axes = fig.add_subplot(xlabel=say("FLOP of a training step per byte of parameters"))
        figures.bars(
            axes, [translation(name) for name in found], list(found.values()), text="{:.0f}"
        )
        for bar, name in zip(axes.patches, found, strict=True):
            if name in NOTES_NETS:
                bar.set_color(figures.COLOURS[1])
        axes.set_xlim(0, 1.12 * max(found.values()))
