"""The report's section on replicas (13.5, 13.6): what keeps them one network."""

import textwrap
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.ticker import FuncFormatter, LogLocator, NullLocator

from lab.core.files import Row, read_json, read_rows
from lab.report import figures
from lab.report.language import say, superscript, translation
from lab.report.page import Figure, Section, Table, TryThis
from lab.report.verdicts import place_in_words
from lab.results.curves import Curve, curves_of
from stages.replicas.measure.names import (
    ACCURACY,
    ALIASING,
    APART,
    BATCH_NORM_CHANGE,
    CELLS,
    CONCISE_ON_ONE,
    CONCISE_ON_TWO,
    EPOCHS,
    EVALUATING,
    FOUR_STEPS,
    FROM_ONE_DEVICE,
    GRADIENT_CHANGE,
    IN_PLACE,
    LOCAL,
    MEANS,
    NORM_ACCURACY,
    ONE_DEVICE,
    ONE_STEP,
    PLACES,
    REBINDING,
    RUNNING_STATISTICS,
    SEPARATE,
    SUMMED_PARAMETERS,
    TRAIN_IMAGES,
    WITH_BATCH_NORM,
    WITHOUT_BATCH_NORM,
    WITHOUT_GPU,
)

Experiments = dict[str, dict[str, Curve]]
LABEL_LETTERS = 16  # of a line of a label beside a panel
DASHES = ("-", (0, (5, 2)), (0, (1, 1.2)), (0, (5, 2, 1, 2)))


def variants() -> dict[str, str]:
    """The ways to train over replicas, as the page calls them."""
    return {
        IN_PLACE: say("by the book"),
        REBINDING: say("note 001's all-reduce"),
        ALIASING: say("replicas without a copy"),
        MEANS: say("mean of the shards' means"),
    }


def norm_variants() -> dict[str, str]:
    """The ways to train with batch norm, as the page calls them."""
    return {
        ONE_DEVICE: say("one device"),
        LOCAL: say("several, each with its own statistics"),
        SEPARATE: say("several, each also with its own parameters"),
    }


def section(folder: Path) -> Section:
    """The section on the results in `folder` (reports/replicas)."""
    rows, m = read_rows(folder / "rows.csv"), read_json(folder / "metrics.json")
    experiments = curves_of(rows)
    return Section(
        stage="replicas",
        title=say("Replicas: what keeps them one network"),
        book="13.5, 13.6",
        question=say("Do replicas stay one network, and what do the notes' mistakes change?"),
        answer=_answer(experiments),
        findings=[
            *_from_one_device(experiments, m),
            _summed_parameters(experiments, m),
            _gradient(experiments, m),
            _running_statistics(experiments),
            *_without_gpu(experiments[WITHOUT_GPU]),
            _evaluating(experiments),
        ],
        figures=[
            Figure(
                "replicas",
                say(
                    "Largest difference of a weight from training on one device, by step, for each"
                    " variant."
                ),
                say(
                    "LeNet on {n} virtual devices and on one, with the same batches, in float64."
                    " Only by the book is the difference mere rounding; the other lines are other"
                    " algorithms.",
                    n=m["num_devices"],
                ),
                [partial(_draw_weights, experiments[FROM_ONE_DEVICE])],
            ),
            Figure(
                "replicas_batch_norm",
                say(
                    "What batch norm on several devices changes: the gradient of a batch, and the"
                    " test accuracy after training."
                ),
                say(
                    "A dot is a seed, a bar the median. Thin lines join what has the same seed."
                    " Each device computes batch norm's mean and variance from its own share of"
                    " the batch."
                ),
                [
                    partial(_draw_gradient_changes, experiments[GRADIENT_CHANGE]),
                    partial(_draw_norm_accuracies, experiments[NORM_ACCURACY]),
                ],
            ),
        ],
        tables=[_table(experiments), _accuracies(experiments, m), _programs(rows)],
        try_this=TryThis(
            "replicas.num_devices",
            "4",
            say("Which of the mistakes grows most with four devices?"),
            say(
                "Replicas without a copy. They share one gradient tensor, which the all-reduce adds"
                " to itself: once with two devices, so that a step is twice as long as it should"
                " be; three times with four, so that it is eight times as long."
            ),
        ),
    )


def _answer(experiments: Experiments) -> str:
    book, rebound = (experiments[APART][variant] for variant in (IN_PLACE, REBINDING))
    numbers = {"apart": small(rebound.y[-1]), "steps": f"{rebound.x[-1]:.0f}"}
    if book.y.any():
        return say(
            "Even by the book replicas are NOT equal here: {book} apart after {steps} steps; by"
            " note 001's all-reduce {apart}.",
            book=small(book.y[-1]),
            **numbers,
        )
    return say(
        "The book's all-reduce keeps replicas equal to the bit; note 001's leaves their weights"
        " {apart} apart after {steps} steps, without any error message.",
        **numbers,
    )


def _from_one_device(experiments: Experiments, m: Mapping[str, Any]) -> list[str]:
    one = experiments[FROM_ONE_DEVICE]
    worst = max((c for c in one.values() if c.series != IN_PLACE), key=lambda c: c.y[-1])
    return [
        say(
            "By the book {n} devices end within {rounding} of the weights of one device: rounding.",
            n=m["num_devices"],
            rounding=small(one[IN_PLACE].y[-1]),
        ),
        say(
            "“{worst}” ends farthest from one device's weights: {away}.",
            worst=variants()[worst.series],
            away=small(worst.y[-1]),
        ),
    ]


def _summed_parameters(experiments: Experiments, m: Mapping[str, Any]) -> str:
    return say(
        "Note 000 asks for a sum of parameters, its code sums gradients. Summed over {n} devices,"
        " LeNet's parameters are {percent} % of their length off after one step.",
        n=m["num_devices"],
        percent=small(experiments[ONE_STEP][SUMMED_PARAMETERS].y[0]),
    )


def _gradient(experiments: Experiments, m: Mapping[str, Any]) -> str:
    without = experiments[GRADIENT_CHANGE][WITHOUT_BATCH_NORM]
    return say(
        "Splitting a batch changes ResNet-18's gradient, with batch norm, by {change:.0f} % of its"
        " length, LeNet's, without, by {other} % (medians; seeds: {seeds}).",
        change=m[BATCH_NORM_CHANGE],
        other=small(float(np.median(without.y))),
        seeds=len(without.y),
    )


def _running_statistics(experiments: Experiments) -> str:
    found = experiments[FOUR_STEPS][RUNNING_STATISTICS]
    return say(
        "All-reduce keeps ResNet-18's weights equal, not batch norm's running statistics:"
        " {apart} apart after {steps:.0f} steps. Which replica is evaluated matters.",
        apart=small(found.y[0] / 1e6),
        steps=found.x[0],
    )


def _without_gpu(programs: Mapping[str, Curve]) -> list[str]:
    ran = {name: bool(c.y[0]) for name, c in programs.items()}
    calls = (CONCISE_ON_ONE, CONCISE_ON_TWO)
    return [
        say(
            "Without a GPU {stopped} of the notes' {n} programs stop; the table says which.",
            stopped=len(ran) - sum(ran.values()),
            n=len(ran),
        ),
        say(
            "The concise section is to need two GPUs; of its {n} training calls {ran} run without"
            " any: nn.DataParallel is then the net itself.",
            n=len(calls),
            ran=sum(ran[name] for name in calls),
        ),
    ]


def _evaluating(experiments: Experiments) -> str:
    return say(
        "While the concise section computes an accuracy, its net runs on {n:.0f} of two devices"
        " here: nn.DataParallel spreads it over GPUs alone.",
        n=experiments[CELLS][EVALUATING].y[0],
    )


def small(value: float) -> str:
    """A number that may be far below 1: `0.021`, `1.2×10⁻⁷`."""
    if abs(value) >= 100:
        return figures.minus(f"{value:.0f}")
    if value == 0 or abs(value) >= 1e-4:
        return figures.minus(f"{value:.2g}")
    mantissa, exponent = f"{value:.1e}".split("e")
    return figures.minus(f"{mantissa}×10{superscript(str(int(exponent)))}")


def _table(experiments: Experiments) -> Table:
    shown = variants()
    rows = [
        [shown[name], small(c.y[0]), small(c.y[-1]), small(experiments[APART][name].y[-1])]
        for name, c in experiments[FROM_ONE_DEVICE].items()
    ]
    return Table(
        [
            say("variant"),
            say("from one device, step 1"),
            say("last step"),
            say("replicas from each other"),
        ],
        rows,
        say(
            "Largest difference of any weight. Where all replicas are one tensor they cannot part;"
            " they are all wrong."
        ),
    )


def _accuracies(experiments: Experiments, m: Mapping[str, Any]) -> Table:
    """Test accuracies of both experiments: the notes' recipe by replica, batch norm by variant."""

    def row(name: str, net: str, c: Curve) -> list[str]:
        cells = (f"{accuracy:.1f}" for accuracy in (np.median(c.y), min(c.y), max(c.y)))
        return [name, net, *cells, str(len(c.y))]

    return Table(
        [
            say("trained on"),
            say("network"),
            say("accuracy, %"),
            say("lowest seed"),
            say("highest seed"),
            say("seed count"),
        ],
        [
            *(
                row(_replica(name), say("LeNet, the notes' recipe"), c)
                for name, c in experiments[ACCURACY].items()
            ),
            *(
                row(norm_variants()[name], say("LeNet with batch norm"), c)
                for name, c in experiments[NORM_ACCURACY].items()
            ),
        ],
        say(
            "Test accuracy after the last step, the median over seeds. The notes' recipe ran for"
            " {epochs} epochs of {images} images; theirs is 10 of 60,000, as in the profile"
            " study. The notes evaluate replica 1 alone.",
            epochs=m[EPOCHS],
            images=f"{m[TRAIN_IMAGES]:,}",
        ),
    )


def _programs(rows: Sequence[Row]) -> Table:
    """Which of the notes' programs run without a GPU, and what the others stop with."""
    return Table(
        [say("program"), say("where"), say("without a GPU")],
        [
            [
                translation(str(row["variant"])),
                place_in_words(PLACES[str(row["variant"])]),
                say("runs") if row["y"] else say("stops: {words}", words=row["remark"]),
            ]
            for row in rows
            if row["experiment"] == WITHOUT_GPU
        ],
        say(
            "What each program asks of its devices, on tiny inputs. Where there is no GPU,"
            " `try_gpu` gives the CPU, which neither `scatter` nor `torch.cuda.synchronize` takes."
            " With `tensor_split` for the one and without the other, training from scratch runs,"
            " but in notes 000 and 004 its replicas then share their parameters."
        ),
        prose=True,
    )


def _replica(series: str) -> str:
    """One device, or a replica by its variant and number, as the page calls it."""
    variant, _, number = series.rpartition(", replica ")
    if not variant:
        return norm_variants()[series]
    return say("{variant}, replica {n}", variant=variants()[variant], n=number)


def _in_lines(label: str) -> str:
    """A label of several lines, which leaves a narrow panel its width; Chinese breaks at commas."""
    fill = partial(
        textwrap.fill, width=LABEL_LETTERS, break_long_words=False, break_on_hyphens=False
    )
    return "\n".join(map(fill, label.split("，")))


def _powers(axis: Axis) -> None:
    """Label a logarithmic axis with powers of ten, those near 1 as plain numbers."""

    def words(value: float, _: int | None) -> str:
        exponent = round(np.log10(value))
        return f"{value:g}" if abs(exponent) <= 2 else f"10{superscript(str(exponent))}"

    axis.set_major_locator(LogLocator())
    axis.set_major_formatter(FuncFormatter(words))
    axis.set_minor_locator(NullLocator())


def _draw_weights(curves: Mapping[str, Curve], path: Path) -> None:
    values = np.concatenate([c.y[c.y > 0] for c in curves.values()])
    with figures.figure(path, figures.WIDTH, 3.1) as fig:
        axes = fig.add_subplot(xlabel=say("training step"), yscale="log")
        axes.set_ylabel(say("largest difference of a weight"))
        axes.set_ylim(values.min() / 3, values.max() * 12)
        _powers(axes.yaxis)
        ends = []
        for (name, c), colour, dashes in zip(curves.items(), figures.COLOURS, DASHES, strict=False):
            axes.plot(c.x, c.y, color=colour, linestyle=dashes, linewidth=2)
            ends.append((_in_lines(variants()[name]), float(c.x[-1]), float(c.y[-1]), colour))
        figures.label_ends(axes, ends, gap=0.17)
        figures.say_virtual(fig)


def _draw_gradient_changes(changes: Mapping[str, Curve], path: Path) -> None:
    values = np.concatenate([c.y[c.y > 0] for c in changes.values()])
    with figures.figure(path, figures.WIDTH, 2.4) as fig:
        axes = fig.add_subplot(xscale="log", xlim=(values.min() / 40, values.max() * 40))
        for row, c in enumerate(changes.values()):
            colour = figures.COLOURS[1 if c.series == WITH_BATCH_NORM else 0]
            _draw_seeds(axes, row, c, colour)
            axes.annotate(
                say("{percent} %", percent=small(float(np.median(c.y)))),
                (float(np.median(c.y)), row - 0.27),
                (0, 3),
                textcoords="offset points",
                ha="center",
                va="bottom",
                color=figures.text_colour(colour),
            )
        _rows(axes, [translation(name) for name in changes])
        _powers(axes.xaxis)
        axes.set_xlabel(say("change of the gradient, % of its length"))


def _draw_norm_accuracies(accuracies: Mapping[str, Curve], path: Path) -> None:
    shown, curves = norm_variants(), list(accuracies.values())
    with figures.figure(path, figures.WIDTH, 2.4) as fig:
        axes = fig.add_subplot(xlabel=say("test accuracy of LeNet with batch norm, %"))
        for values in zip(*(c.y for c in curves), strict=True):
            axes.plot(values, range(len(curves)), color=figures.FAINT, linewidth=0.7, zorder=1)
        for row, c in enumerate(curves):
            _draw_seeds(axes, row, c, figures.COLOURS[0])
        _rows(axes, [shown[name] for name in accuracies])


def _draw_seeds(axes: Axes, row: int, c: Curve, colour: str) -> None:
    """Draw a dot for each seed in a row, and a bar at their median."""
    axes.plot(c.y, np.full(len(c.y), row), "o", color=colour, markersize=5, alpha=0.6)
    median = float(np.median(c.y))
    axes.plot([median, median], [row - 0.25, row + 0.25], color=colour, linewidth=2.5)


def _rows(axes: Axes, names: list[str]) -> None:
    """Name the rows of a panel, the first on top."""
    axes.set_yticks(range(len(names)), [_in_lines(name) for name in names])
    axes.set_ylim(len(names) - 0.45, -0.55)
    axes.grid(visible=False, axis="y")
