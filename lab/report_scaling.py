"""The report's section on scaling (13.5 to 13.7): what more devices cost, in bytes and in epochs."""

from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.axes import Axes

from lab import figures
from lab.curves import Curve, curves_of, key
from lab.page import Figure, Section, Table
from lab.records import read_json, read_rows
from lab.report_bench import DEVICES

Demos = dict[str, dict[str, Curve]]
ONE, DATA, PIPELINE, TENSOR = "one device", "data parallel", "pipeline", "tensor parallel"  # as stages/scaling
FIXED, LINEAR, WARM_UP = "fixed rate", "rate x batch", "rate x batch, warm-up"  # as lab/convergence
RULES = (FIXED, LINEAR, WARM_UP)
NOTES_NETS = ("LeNet", "ResNet-18 (28 x 28)")
FLAT = 2.0  # epochs may grow by so much before a batch counts as one that costs


def section(folder: Path, drawings: Path) -> Section:
    """Draw the figures of `folder` (reports/scaling) into `drawings` and return the section."""
    demos, m = curves_of(read_rows(folder / "rows.csv")), read_json(folder / "metrics.json")
    _draw_parallelism(demos, m, drawings / "scaling_parallelism.svg")
    _draw_ratio(demos, drawings / "scaling_ratio.svg")
    _draw_convergence(demos, m, drawings / "scaling_convergence.svg")
    return Section(
        stage="scaling",
        title="Scaling: what more devices cost",
        book="13.5-13.7",
        question="What do more devices cost, in bytes moved and in epochs, and which networks bear it?",
        findings=[*_parallelism(demos, m), *_ratio(demos, m), *_convergence(demos, m)],
        figures=[
            Figure(
                "scaling_parallelism",
                "Bytes that devices send each other in a step, by batch size, for each kind of parallelism.",
                f"LeNet on {DEVICES[m['device_kind']]}; what is sent was counted as it was sent, at the two batch"
                " sizes with a dot. Rings: the batch from which on data parallel moves less than the kind.",
            ),
            Figure(
                "scaling_ratio",
                "FLOP of a training step per byte of parameters, for seven networks, one image.",
                "Counted, forward and backward pass, float32, each network on images of its own size and without"
                " auxiliary heads. A batch multiplies all of them alike.",
            ),
            Figure(
                "scaling_convergence",
                "Epochs and seconds until the target accuracy, by batch size, for three rules for the rate.",
                "Dots are seeds, lines their medians; crosses at the top edge are seeds that did not reach the"
                " target within the budget, or diverged. Seconds are those of one device at that batch size.",
            ),
        ],
        tables=[_kinds_table(demos), _convergence_table(demos)],
        try_this="scaling.convergence.lr to 0.005, and see up to which batch scaling the rate then works",
    )


# --- kinds of parallelism -----------------------------------------------------------------------------------------


def _kinds(demos: Demos) -> list[tuple[str, str]]:
    """Return the kinds as (series, what follows the comma), the one device apart."""
    return [(name, name.partition(", ")[2]) for name in demos["parallelism_moved_mb"] if name != ONE]


def _parallelism(demos: Demos, m: dict[str, Any]) -> list[str]:
    moved, held, weights = (demos[f"parallelism_{what}_mb"] for what in ("moved", "total", "params"))
    names = [name for name, _ in _kinds(demos)]
    last = names[-1].partition(", ")[2]
    crossing = {kind: m[f"parallelism_{key(kind)}_{key(last)}_crossing_images"] for kind in (PIPELINE, TENSOR)}
    crossings = [f"{n:.0f} images ({kind})" for kind, n in crossing.items()]
    levels = {float(y) for y in moved[f"{DATA}, {last}"].y}
    grows = "the same at every batch size" if len(levels) == 1 else "NOT the same at every batch size"
    least = min(names, key=lambda name: held[name].y[-1])
    uneven = [name for name in names if name.startswith(f"{PIPELINE} of ")][-1]
    idle, by_flop = (m[f"parallelism_{key(uneven)}_{how}_percent"] for how in ("idle", "idle_by_flop"))
    least_weights = min(names, key=lambda name: weights[name].y[-1])
    pipelines = f"A {uneven} is idle {idle:.0f} % of the time if its parts take equally long"
    return [
        (
            f"All kinds give the gradient of one device, to {m['parallelism_largest_difference_eps']:.0f} roundings"
            f" of float64. Data parallel moves parameters, {grows}; the others move activations, which grow with"
            f" the batch: with {last} data parallel moves less from {' and '.join(crossings)} on."
        ),
        (
            f"At {held[least].x[-1]:.0f} images the fullest device has least to hold with {least}"
            f" ({held[least].y[-1]:.1f} of {held[ONE].y[-1]:.1f} MB), of parameters alone with {least_weights}"
            f" ({weights[least_weights].y[-1]:.2g} of {weights[ONE].y[-1]:.2g} MB): that is what a net needs that"
            " one device cannot hold."
        ),
        (
            f"{pipelines}; by their FLOP they do not, and it is {by_flop:.0f} %: a cut between layers cannot divide"
            " LeNet's second convolution, which is most of the work."
            if by_flop > idle + 1
            else f"{pipelines}, and {by_flop:.0f} % by their FLOP."
        ),
    ]


def _kinds_table(demos: Demos) -> Table:
    def row(name: str) -> list[str]:
        small, large = demos["parallelism_moved_mb"][name].y
        held = [demos[f"parallelism_{part}_mb"][name].y[-1] for part in ("total", "params", "activations")]
        rounding, idle = (demos[f"parallelism_{what}"][name].y[0] for what in ("difference_eps", "idle_percent"))
        by_flop = demos["parallelism_idle_by_flop_percent"].get(name)
        return [
            name, f"{small:.3g}", f"{large:.3g}", *(f"{mb:.3g}" for mb in held), f"{rounding * 2**-52:.1g}",
            f"{idle:.0f} %" + (f" ({by_flop.y[0]:.0f} %)" if by_flop else ""),
        ]  # fmt: skip

    few, many = demos["parallelism_moved_mb"][ONE].x
    return Table(
        ["LeNet, one step", f"MB moved, {few:.0f} images", f"MB moved, {many:.0f} images",
         "MB on the fullest device", "largest parameters", "largest activations", "gradient differs by", "idle"],
        [row(name) for name in demos["parallelism_moved_mb"]],
        f"Counted as the steps ran. Memory at {many:.0f} images: parameters, as much again for gradients, and what"
        " is kept for the backward pass; each column is that of the device that has most of it. Differences are"
        " relative, in float64. Idle: of a schedule whose parts take equally long, in brackets by their FLOP.",
    )  # fmt: skip


def _draw_parallelism(demos: Demos, m: dict[str, Any], path: Path) -> None:
    groups = list(dict.fromkeys(devices for _, devices in _kinds(demos)))
    virtual = " (virtual)" if m["device_kind"] == "cpu-virtual" else ""
    every = np.concatenate([c.y for name, c in demos["parallelism_moved_mb"].items() if name != ONE])
    limits = (every.min() / 1.5, every.max() * 1.5)  # before the labels, whose places depend on them
    with figures.figure(path, 5.4 * len(groups), 3.8) as fig:
        panels = fig.subplots(1, len(groups), squeeze=False)[0]
        for axes, devices in zip(panels, groups, strict=True):
            found = [demos["parallelism_moved_mb"][f"{kind}, {devices}"] for kind in (DATA, PIPELINE, TENSOR)]
            axes.set(xscale="log", yscale="log", xlabel="images per step", title=f"{devices}{virtual}")
            axes.set(xlim=(found[0].x[0] / 1.2, found[0].x[-1] * 1.2), ylim=limits)
            for c, colour in zip(found, figures.COLOURS, strict=False):
                axes.plot(c.x, c.y, "o-", color=colour, markersize=4)
            for c, colour in zip(found[1:], figures.COLOURS[1:], strict=False):
                crossing = m[f"parallelism_{key(c.series)}_crossing_images"]
                if c.x[0] <= crossing <= c.x[-1]:
                    axes.plot(crossing, found[0].y[0], "o", color=colour, markersize=11, fillstyle="none")
                    axes.annotate(f"{crossing:.0f}", (crossing, found[0].y[0]), (0, -18), ha="center", color=colour,
                                  textcoords="offset points")  # fmt: skip
            figures.plain_ticks(axes.xaxis)
            figures.plain_ticks(axes.yaxis)
            ends = [(c.series.partition(", ")[0], c.x[-1], c.y[-1], colour)
                    for c, colour in zip(found, figures.COLOURS, strict=False)]  # fmt: skip
            figures.label_ends(axes, ends, gap=0.08)
        panels[0].set_ylabel("MB moved per step")


# --- ratio --------------------------------------------------------------------------------------------------------


def _ratio(demos: Demos, m: dict[str, Any]) -> list[str]:
    order = (
        f"The notes' order holds: FLOP per byte of parameters fall from Inception over ResNet (by"
        f" {m['ratio_inception_over_resnet']:.2f}x at least) to AlexNet ({m['ratio_resnet_over_alexnet']:.0f}x)"
        if m["ratio_notes_order_holds"] == "yes"
        else "The notes' order, Inception over ResNet over AlexNet, does NOT hold"
    )
    own = {name: m[f"ratio_{key(name)}_flop_per_byte"] for name in NOTES_NETS}
    least = min(m["ratio_resnet_18_flop_per_byte"], m["ratio_resnet_50_flop_per_byte"])
    ranks = "less than any ResNet at 224" if max(own.values()) < least else "not less than the ResNets at 224"
    words = " and ".join(f"{name} {value:.0f}" for name, value in own.items())
    return [f"{order}. What the notes train has {ranks}, per image: {words} FLOP per byte."]


def _draw_ratio(demos: Demos, path: Path) -> None:
    found = sorted((float(c.y[0]), name) for name, c in demos["ratio_flop_per_byte"].items())
    counted = demos["ratio_counted"]
    with figures.figure(path, 9, 3.6) as fig:
        axes = fig.add_subplot(xscale="log", xlabel="FLOP of a training step per byte of parameters, one image")
        for i, (value, name) in enumerate(found):
            colour = figures.COLOURS[1 if name in NOTES_NETS else 0]
            axes.plot(value, i, "o", color=colour, markersize=8)
            [mb], [gflop] = counted[name].x, counted[name].y
            whose = ", the notes" if name in NOTES_NETS else ""
            text = f"{name}{whose}: {value:.0f} ({gflop:.3g} GFLOP, {mb:.3g} MB)"
            axes.annotate(text, (value, i), (10, 0), textcoords="offset points", va="center", color=colour)
        axes.set(yticks=[], ylim=(-0.7, len(found) - 0.3), xlim=(found[0][0] / 1.3, found[-1][0] * 25))
        figures.plain_ticks(axes.xaxis)
        axes.spines["left"].set_visible(False)


# --- convergence --------------------------------------------------------------------------------------------------


def _seeds(demos: Demos, rule: str) -> list[Curve]:
    return [c for name, c in demos["convergence_epochs"].items() if name.startswith(f"{rule}, seed ")]


def _batches(demos: Demos) -> list[int]:
    return [int(x) for x in _seeds(demos, FIXED)[0].x]


def _epochs(m: dict[str, Any], rule: str, batch_size: int, suffix: str = "epochs") -> float | str:
    """Return the median over seeds, a number or how most of them failed."""
    value: float | str = m[f"convergence_{key(rule)}_batch_{batch_size}_{suffix}"]
    return value


def _flat_up_to(demos: Demos, m: dict[str, Any], rule: str) -> int | None:
    """Return the largest batch until which median epochs stay within twice the smallest's; None for no batch."""
    sizes = _batches(demos)
    first = _epochs(m, rule, sizes[0])
    if isinstance(first, str):
        return None
    flat = sizes[0]
    for n in sizes[1:]:
        epochs = _epochs(m, rule, n)
        if isinstance(epochs, str) or epochs > FLAT * first:
            break
        flat = n
    return flat


def _convergence(demos: Demos, m: dict[str, Any]) -> list[str]:
    sizes, target = _batches(demos), m["convergence_target_percent"]
    flat = {rule: _flat_up_to(demos, m, rule) for rule in RULES}
    words = {None: f"most runs failed even at {sizes[0]}", sizes[0]: "at no larger batch"}
    parts = [f"{rule} {words.get(n, f'up to {n}')}" for rule, n in flat.items()]
    costs = []
    for rule in RULES:
        name = f"convergence_{key(rule)}_large_batch_penalty"
        bound = "at least " if m[f"{name}_is"] == "a lower bound" else ""
        costs.append(f"{bound}{m[name]:.0f} ({rule}; {m[f'{name}_low']:.0f} to {m[f'{name}_high']:.0f} over seeds)")
    lost = [m[f"convergence_{key(rule)}_{how}_percent"] for rule in RULES for how in ("not_reached", "diverged")]
    failed, diverged = sum(lost) / len(RULES), sum(lost[1::2]) / len(RULES)
    reached = [
        (s, n, rule) for rule in RULES for n in sizes if not isinstance(s := _epochs(m, rule, n, "seconds"), str)
    ]
    quickest = (
        [f"On one device the shortest way to it was a batch of {min(reached)[1]} with {min(reached)[2]},"
         f" {min(reached)[0]:.2g} s."] if reached else []
    )  # fmt: skip
    return [
        (
            f"Epochs until {target:g} % of the test images are right stay within {FLAT:g} times those at {sizes[0]}"
            f" images: {'; '.join(parts)}. At {sizes[-1]} images it takes {', '.join(costs)} times as many."
        ),
        " ".join([
            f"Of all runs {failed:.0f} % did not reach the target,"
            f" {f'{diverged:.0f} % because they diverged' if diverged else 'none because it diverged'}.",
            *quickest,
            "A larger batch pays only as far as more devices shorten an epoch by more than it adds epochs.",
        ]),
    ]  # fmt: skip


def _convergence_table(demos: Demos) -> Table:
    def cell(seeds: list[Curve], i: int) -> str:
        epochs = [float(c.y[i]) for c in seeds]
        reached = sorted(e for e in epochs if np.isfinite(e))
        diverged = int(sum(c.diverged[i] for c in seeds))
        missed = len(epochs) - len(reached) - diverged
        words = [", ".join(f"{e:.2g}" for e in reached)] if reached else []
        words += [f"{missed} not reached"] if missed else []
        return "; ".join(words + ([f"{diverged} diverged"] if diverged else []))

    sizes, times = _batches(demos), demos["convergence_us_per_image"]["one device"]
    rows = [[rule, *(cell(_seeds(demos, rule), i) for i in range(len(sizes)))] for rule in RULES]
    rows.append(["time of an image (µs)", *(f"{us:.3g} ({high - low:.1g})" for us, low, high in zip(
        times.y, times.low, times.high, strict=True))])  # fmt: skip
    return Table(
        ["epochs to the target", *(f"batch {n}" for n in sizes)],
        rows,
        "One number for each seed that reached it. At the smallest batch a scaled rate is the fixed one. Times are"
        " medians on one device, measured in turn, with the range of their middle half.",
    )


def _draw_convergence(demos: Demos, m: dict[str, Any], path: Path) -> None:
    sizes = np.array(_batches(demos), dtype=float)
    times = demos["convergence_us_per_image"]["one device"].y
    seconds_per_epoch = times * m["convergence_train_images"] / 1e6
    epochs = np.array([c.y for rule in RULES for c in _seeds(demos, rule)])
    with figures.figure(path, 11, 4.2) as fig:
        left, right = fig.subplots(1, 2)
        for axes, scale in ((left, np.ones(len(sizes))), (right, seconds_per_epoch)):
            drawn = (epochs * scale)[np.isfinite(epochs)]
            low, high = (drawn.min(), drawn.max()) if len(drawn) else (0.1, 1.0)
            axes.set(xscale="log", yscale="log", xlabel="images per batch", ylim=(low / 1.5, high * 3))
            axes.set_xlim(sizes[0] / 1.5, sizes[-1] * 1.5)
            for i, rule in enumerate(RULES):
                medians = np.array([_number(_epochs(m, rule, int(n))) for n in sizes])
                _draw_rule(axes, _seeds(demos, rule), medians * scale, scale, i)
            figures.plain_ticks(axes.yaxis)
            axes.set_xticks(sizes, [f"{n:.0f}" for n in sizes], minor=False)
            axes.set_xticks([], minor=True)
            if not np.isfinite(epochs).all():
                axes.text(0.99, 0.84, "not reached", ha="right", va="top", color=figures.FAINT,
                          transform=axes.transAxes, fontsize=10)  # fmt: skip
        left.set_title(f"Epochs to {m['convergence_target_percent']:g} %")
        right.set_title("Seconds to it on one device")


def _number(value: float | str) -> float:
    return np.nan if isinstance(value, str) else value


def _draw_rule(axes: Axes, seeds: list[Curve], medians: np.ndarray, scale: np.ndarray, i: int) -> None:
    """Draw a rule's seeds, their medians and, at the top edge, each seed without the target; rules side by side."""
    colour, x = figures.COLOURS[i], seeds[0].x * 1.12 ** (i - 1)
    axes.plot(x, medians, color=colour)
    top = axes.get_ylim()[1]
    for j, c in enumerate(seeds):
        axes.plot(x, c.y * scale, "o", color=colour, markersize=3.5, alpha=0.7)
        failed = ~np.isfinite(c.y)
        axes.plot(x[failed], np.full(failed.sum(), top / 1.08 ** (j + 1)), "x", color=colour, markersize=5)
    axes.text(0.02, 0.97 - 0.075 * i, seeds[0].series.partition(", seed ")[0], color=colour, va="top",
              transform=axes.transAxes, fontsize=10)  # fmt: skip
