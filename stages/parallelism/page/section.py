"""The report's section on parallelism (13.5, 13.7): what devices send each other and hold."""

from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import LogLocator, MaxNLocator

from lab.core.files import read_json, read_rows
from lab.report import figures
from lab.report.benchmarks import devices_in_words, trust, undecided
from lab.report.language import say, translation
from lab.report.page import Figure, Section, Table, TryThis
from lab.results.curves import Curve, curves_of
from lab.results.stats import Ratio, speedup
from stages.parallelism.measure.names import (
    COUNTED,
    DATA,
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
from stages.parallelism.measure.pipeline_schedule import idle_share, schedule
from stages.parallelism.page import torch_section

Experiments = dict[str, dict[str, Curve]]
KINDS = (DATA, PIPELINE, TENSOR)
COLOURS = dict(zip(KINDS, figures.COLOURS, strict=False))
MARKERS = {DATA: "o-", PIPELINE: "s--", TENSOR: "^-."}


def section(folder: Path) -> Section:
    """The section on the results in `folder` (reports/parallelism)."""
    experiments, m = curves_of(read_rows(folder / "rows.csv")), read_json(folder / "metrics.json")
    devices, micro_batches = _longest_pipeline(experiments)
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
        answer=_answer(experiments, m),
        findings=[
            _same_gradient(m),
            *_what_is_held(experiments),
            _who_adds(experiments),
            *_idle(m, devices, micro_batches),
            *torch_section.findings(experiments),
            *_ratio(experiments, m),
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
                    partial(_draw_sent, experiments, m, count, virtual)
                    for count in _device_counts(experiments)
                ],
            ),
            *([] if no_times else [_figure_of_times(experiments, m)]),
            *([] if no_times else [torch_section.figure(experiments, virtual)]),
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
                [partial(_draw_ratio, experiments)],
            ),
        ],
        tables=[
            _kinds_table(experiments),
            *([] if no_times else [_times_table(experiments)]),
            torch_section.table(experiments, with_times=not no_times),
            _networks_table(experiments),
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


def _figure_of_times(experiments: Experiments, m: Mapping[str, Any]) -> Figure:
    return Figure(
        "parallelism_times",
        say("Time of a step on two devices by each kind of parallelism, for two networks."),
        say(
            "Bars are medians, dots the starts of the process from top to bottom. The"
            " pipeline goes in micro-batches. “times”: against data parallelism."
        ),
        [
            partial(_draw_times, experiments, experiment, m["device_kind"] == "cpu-virtual")
            for experiment in (LENET_STEP_MS, WIDE_STEP_MS)
        ],
    )


# --- kinds of parallelism


def _on_several(experiments: Experiments) -> list[str]:
    """The series of several devices."""
    return [name for name in experiments[MOVED_MB] if name != ONE]


def _device_counts(experiments: Experiments) -> list[int]:
    """The numbers of devices, growing."""
    found = {kind_and_devices(name)[1].partition(" ")[0] for name in _on_several(experiments)}
    return sorted(map(int, found))


def _longest_pipeline(experiments: Experiments) -> tuple[int, int]:
    """The most devices of a pipeline, and its micro-batches."""
    [chained] = {kind_and_devices(name)[0] for name in experiments[IDLE_BY_FLOP_PERCENT]} - {
        PIPELINE
    }
    return _device_counts(experiments)[-1], int(chained.split()[2])


def _in_words(series: str) -> str:
    """A kind of parallelism and its devices, as the page calls them."""
    kind, devices = kind_and_devices(series)
    if kind.startswith(f"{PIPELINE} of "):
        kind = say("pipeline of {n} micro-batches", n=kind.split()[2])
    else:
        kind = translation(kind)
    if not devices:
        return kind
    return say("{kind}, {n} devices", kind=kind, n=devices.partition(" ")[0])


def _over_data(experiments: Experiments, experiment: str, kind: str) -> Ratio:
    """How many times as long a kind's step takes as data parallelism's."""
    return speedup(list(experiments[experiment][kind].y), list(experiments[experiment][DATA].y))


def _answer(experiments: Experiments, m: Mapping[str, Any]) -> str:
    count = _device_counts(experiments)[0]
    pipeline, tensor = (m[crossing_images(on_devices(kind, count))] for kind in (PIPELINE, TENSOR))
    sent = {float(y) for y in experiments[MOVED_MB][on_devices(DATA, count)].y}
    if len(sent) > 1:
        return say("What data parallelism sends is NOT the same at every batch size here.")
    return say(
        "Data parallelism over {n} devices always sends {mb:.3g} MB a step; a pipeline sends more"
        " from {pipeline:.0f} images on, tensor parallelism from {tensor:.0f}.",
        n=count,
        mb=sent.pop(),
        pipeline=pipeline,
        tensor=tensor,
    )


def _same_gradient(m: Mapping[str, Any]) -> str:
    return say(
        "Every scheme reproduces the single-device gradient to within {eps:.0f} float64 rounding"
        " units.",
        eps=m[LARGEST_DIFFERENCE_EPS],
    )


def _what_is_held(experiments: Experiments) -> list[str]:
    held, weights, names = experiments[HELD_MB], experiments[PARAMS_MB], _on_several(experiments)
    least = min(names, key=lambda name: held[name].y[-1])
    least_weights = min(names, key=lambda name: weights[name].y[-1])
    return [
        say(
            "At batch {n:.0f}, “{least}” has the lowest peak memory: {mb:.1f} MB on the fullest"
            " device, against {one_mb:.1f} MB on one.",
            n=held[least].x[-1],
            least=_in_words(least),
            mb=held[least].y[-1],
            one_mb=held[ONE].y[-1],
        ),
        say(
            "For parameters alone it is “{least}” ({mb:.2g} of {one_mb:.2g} MB), which matters when"
            " a model does not fit on one device.",
            least=_in_words(least_weights),
            mb=weights[least_weights].y[-1],
            one_mb=weights[ONE].y[-1],
        ),
    ]


def _who_adds(experiments: Experiments) -> str:
    notes, shared = (experiments[MOST_SENT][name] for name in (NOTES_ALLREDUCE, SHARDED_ALLREDUCE))
    return say(
        "In the notes' all-reduce over {n:.0f} devices the adding device sends {notes:.3g} times"
        " the gradient; if each adds a share, none sends over {shared:.3g} times.",
        n=notes.x[-1],
        notes=notes.y[-1],
        shared=shared.y[-1],
    )


def _idle(m: Mapping[str, Any], devices: int, micro_batches: int) -> list[str]:
    found = say(
        "Over {n} devices a pipeline of {m} micro-batches idles {idle:.0f} % of the time in equal"
        " parts, {by_flop:.0f} % in LeNet's layers.",
        n=devices,
        m=micro_batches,
        idle=m[PIPELINE_IDLE],
        by_flop=m[PIPELINE_IDLE_BY_FLOP],
    )
    if m[PIPELINE_IDLE_BY_FLOP] <= m[PIPELINE_IDLE] + 1:
        return [found]
    why = say(
        "LeNet's second convolution is most of its FLOP, and a cut between layers cannot divide it."
    )
    return [found, why]


def _kinds_table(experiments: Experiments) -> Table:
    def row(name: str) -> list[str]:
        small, large = experiments[MOVED_MB][name].y
        held = [experiments[part][name].y[-1] for part in (HELD_MB, PARAMS_MB)]
        idle, by_flop = (
            experiments[IDLE_PERCENT][name].y[0],
            experiments[IDLE_BY_FLOP_PERCENT].get(name),
        )
        return [
            _in_words(name),
            f"{small:.3g}",
            f"{large:.3g}",
            *(f"{mb:.3g}" for mb in held),
            f"{idle:.0f} %" + (f" ({by_flop.y[0]:.0f} %)" if by_flop else ""),
        ]

    few, many = experiments[MOVED_MB][ONE].x
    return Table(
        [
            say("LeNet, one step"),
            *(say("MB sent, batch {n:.0f}", n=n) for n in (few, many)),
            say("MB held"),
            say("MB of parameters"),
            say("idle"),
        ],
        [row(name) for name in experiments[MOVED_MB]],
        say(
            "Counted as the steps ran. Held: parameters, as much again for gradients, and what is"
            " kept for the backward pass at batch {n:.0f}, on the device that has most. Idle: of a"
            " schedule whose parts take equally long, in brackets by their FLOP.",
            n=many,
        ),
    )


def _nets() -> dict[str, str]:
    """The networks whose steps are timed, by their experiments."""
    return {LENET_STEP_MS: "LeNet", WIDE_STEP_MS: say("four dense layers")}


def _times_table(experiments: Experiments) -> Table:
    def row(experiment: str, kind: str) -> list[str]:
        ms, state = np.median(experiments[experiment][kind].y), experiments[WIDE_STATE_MB][kind]
        found = _over_data(experiments, experiment, kind)
        ratio = say("{ratio:.3g} ({low:.3g} to {high:.3g})", ratio=found.median, **_ends(found))
        held = f"{state.y[list(state.x).index(2)]:.3g}" if experiment == WIDE_STEP_MS else "–"
        name = say("{net}, {kind}", net=_nets()[experiment], kind=translation(kind))
        return [name, f"{ms:.3g}", "1" if kind == DATA else ratio, held]

    return Table(
        [
            say("a step on two devices"),
            say("ms"),
            say("times data parallelism"),
            say("MB of state"),
        ],
        [row(experiment, kind) for experiment in _nets() for kind in KINDS],
        say(
            "Medians, of the larger batch: forward, backward and update. State: parameters and"
            " gradients on the fuller device. The dense layers are nearly all parameters."
        ),
    )


def _ends(found: Ratio) -> dict[str, float]:
    """The ends of a ratio's interval."""
    return {"low": found.low, "high": found.high}


def _draw_sent(
    experiments: Experiments, m: Mapping[str, Any], count: int, virtual: bool, path: Path
) -> None:
    moved = experiments[MOVED_MB]
    every = np.concatenate([moved[name].y for name in _on_several(experiments)])
    curves = {kind: moved[on_devices(kind, count)] for kind in KINDS}
    few, many = curves[DATA].x
    with figures.figure(path, figures.WIDTH, 3.2) as fig:
        axes = fig.add_subplot(xscale="log", yscale="log", title=say("{n} devices", n=count))
        axes.set(xlabel=say("images per step"), ylabel=say("MB sent per step"))
        # before the labels, whose places depend on them; below is room for the crossings' names
        axes.set(xlim=(few / 1.2, many * 1.2), ylim=(every.min() / 5, every.max() * 1.5))
        for kind, c in curves.items():
            axes.plot(c.x, c.y, MARKERS[kind], color=COLOURS[kind], markersize=5)
        crossings = {kind: m[crossing_images(on_devices(kind, count))] for kind in KINDS[1:]}
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


def _draw_times(experiments: Experiments, experiment: str, virtual: bool, path: Path) -> None:
    longest = max(max(experiments[experiment][kind].y) for kind in KINDS)
    with figures.figure(path, figures.WIDTH, 2.0) as fig:
        axes = fig.add_subplot(title=_nets()[experiment], xlabel=say("ms per step"))
        for row, kind in enumerate(KINDS):
            samples = experiments[experiment][kind].y
            figures.bar_with_samples(axes, row, list(samples), COLOURS[kind], virtual)
            ms, ratio = (
                f"{np.median(samples):.3g}",
                _over_data(experiments, experiment, kind).median,
            )
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


def _per_image(experiments: Experiments) -> dict[str, float]:
    """Each network's FLOP per byte of parameters for an image, the most first."""
    found = {name: float(c.y[0]) for name, c in experiments[FLOP_PER_BYTE].items()}
    return dict(sorted(found.items(), key=lambda item: -item[1]))


def _ratio(experiments: Experiments, m: Mapping[str, Any]) -> list[str]:
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
    per_image = _per_image(experiments)
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


def _networks_table(experiments: Experiments) -> Table:
    def row(name: str, flop_per_byte: float) -> list[str]:
        [mb], [gflop] = experiments[COUNTED][name].x, experiments[COUNTED][name].y
        return [translation(name), f"{gflop:.3g}", f"{mb:.3g}", f"{flop_per_byte:.3g}"]

    return Table(
        [say("network"), say("GFLOP per image"), say("MB of parameters"), say("FLOP per byte")],
        [row(name, value) for name, value in _per_image(experiments).items()],
        say("Training: forward and backward pass of one image. ResNet-18 without a size: at 224."),
    )


def _draw_ratio(experiments: Experiments, path: Path) -> None:
    found = _per_image(experiments)
    with figures.figure(path, figures.WIDTH, 2.7) as fig:
        axes = fig.add_subplot(xlabel=say("FLOP of a training step per byte of parameters"))
        figures.bars(
            axes, [translation(name) for name in found], list(found.values()), text="{:.0f}"
        )
        for bar, name in zip(axes.patches, found, strict=True):
            if name in NOTES_NETS:
                bar.set_color(figures.COLOURS[1])
        axes.set_xlim(0, 1.12 * max(found.values()))
