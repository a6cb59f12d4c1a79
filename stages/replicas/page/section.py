"""The report's section on replicas (13.5, 13.6): what keeps them one network."""

import textwrap
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.ticker import FuncFormatter, LogLocator, NullLocator

from lab.report import benchmarks, figures
from lab.report.language import say, superscript, translation
from lab.report.page import Figure, Section, Table, TryThis
from lab.report.verdicts import place_in_words
from lab.results.measurements import Curve, Measurement, Results
from stages.replicas.measure.names import (
    ALIASING,
    IN_PLACE,
    MEANS,
    ONE_DEVICE,
    REBINDING,
    WITH_BATCH_NORM,
    WITHOUT_BATCH_NORM,
)

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
        "several devices, as they are": say("several, each with its own statistics"),
        "several devices, batch norm of their own": say(
            "several, each also with its own parameters"
        ),
    }


def section(folder: Path) -> Section:
    """The section on the results in `folder` (reports/replicas)."""
    results, m = benchmarks.read(folder)
    return Section(
        stage="replicas",
        title=say("Replicas: what keeps them one network"),
        book="13.5, 13.6",
        question=say("Do replicas stay one network, and what do the notes' mistakes change?"),
        answer=_answer(results),
        findings=[
            *_from_one_device(results, m),
            _summed_parameters(results, m),
            _gradient(results, m),
            _running_statistics(results),
            *_without_gpu(results),
            _evaluating(results),
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
                [partial(_draw_weights, results.curves("from_one_device"))],
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
                [partial(_draw_gradient_changes, results), partial(_draw_norm_accuracies, results)],
            ),
        ],
        tables=[_table(results), _accuracies(results, m), _programs(results)],
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


def _answer(results: Results) -> str:
    apart = results.curves("apart")
    book, rebound = apart[IN_PLACE], apart[REBINDING]
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


def _from_one_device(results: Results, m: Mapping[str, Any]) -> list[str]:
    ends = {name: float(c.y[-1]) for name, c in results.curves("from_one_device").items()}
    worst = max((name for name in ends if name != IN_PLACE), key=lambda name: ends[name])
    return [
        say(
            "By the book {n} devices end within {rounding} of the weights of one device: rounding.",
            n=m["num_devices"],
            rounding=small(ends[IN_PLACE]),
        ),
        say(
            "“{worst}” ends farthest from one device's weights: {away}.",
            worst=variants()[worst],
            away=small(ends[worst]),
        ),
    ]


def _of(results: Results, experiment: str, variant: str) -> Measurement:
    found = results.one(experiment, variant)
    if found is None:
        raise KeyError(f"{experiment}, {variant}")
    return found


def _summed_parameters(results: Results, m: Mapping[str, Any]) -> str:
    return say(
        "Note 000 asks for a sum of parameters, its code sums gradients. Summed over {n} devices,"
        " LeNet's parameters are {percent} % of their length off after one step.",
        n=m["num_devices"],
        percent=small(_of(results, "one_step", "parameters summed for gradients").values[0]),
    )


def _gradient(results: Results, m: Mapping[str, Any]) -> str:
    without = _of(results, "gradient_change", WITHOUT_BATCH_NORM).values
    return say(
        "Splitting a batch changes ResNet-18's gradient, with batch norm, by {change:.0f} % of its"
        " length, LeNet's, without, by {other} % (medians; seeds: {seeds}).",
        change=m["batch_norm_gradient_change_percent"],
        other=small(median(without)),
        seeds=len(without),
    )


def _running_statistics(results: Results) -> str:
    found = _of(results, "four_steps", "running statistics")
    return say(
        "All-reduce keeps ResNet-18's weights equal, not batch norm's running statistics:"
        " {apart} apart after {steps:.0f} steps. Which replica is evaluated matters.",
        apart=small(found.values[0] / 1e6),
        steps=found.x,
    )


def _without_gpu(results: Results) -> list[str]:
    ran = {m.variant: bool(m.values[0]) for m in _all(results, "without_gpu")}
    calls = ("concise training, 1 GPU", "concise training, 2 GPUs")
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


def _all(results: Results, experiment: str) -> list[Measurement]:
    return [m for m in results.measurements if m.experiment == experiment]


def _evaluating(results: Results) -> str:
    return say(
        "While the concise section computes an accuracy, its net runs on {n:.0f} of two devices"
        " here: nn.DataParallel spreads it over GPUs alone.",
        n=_of(results, "cells", "devices that compute an accuracy").values[0],
    )


def small(value: float) -> str:
    """A number that may be far below 1: `0.021`, `1.2×10⁻⁷`."""
    if abs(value) >= 100:
        return figures.minus(f"{value:.0f}")
    if value == 0 or abs(value) >= 1e-4:
        return figures.minus(f"{value:.2g}")
    mantissa, exponent = f"{value:.1e}".split("e")
    return figures.minus(f"{mantissa}×10{superscript(str(int(exponent)))}")


def _table(results: Results) -> Table:
    shown, apart = variants(), results.curves("apart")
    rows = [
        [shown[name], small(c.y[0]), small(c.y[-1]), small(apart[name].y[-1])]
        for name, c in results.curves("from_one_device").items()
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


def _accuracies(results: Results, m: Mapping[str, Any]) -> Table:
    """Test accuracies of both experiments: the notes' recipe by replica, batch norm by variant."""

    def row(name: str, net: str, percent: Sequence[float]) -> list[str]:
        cells = (f"{each:.1f}" for each in (median(percent), min(percent), max(percent)))
        return [name, net, *cells, str(len(percent))]

    trained = _all(results, "accuracy")
    note = [say("Test accuracy after the last step, the median over seeds.")]
    if trained:
        note.append(
            say(
                "The notes' recipe ran for {epochs} epochs of {images} images; theirs is 10 of"
                " 60,000. The notes evaluate replica 1 alone.",
                epochs=m["accuracy_epochs"],
                images=f"{m['accuracy_train_images']:,}",
            )
        )
    else:
        note.append(say("The profile `study` trains by the notes' recipe, too."))
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
                row(_replica(each), say("LeNet, the notes' recipe"), each.values)
                for each in trained
            ),
            *(
                row(norm_variants()[each.variant], say("LeNet with batch norm"), each.values)
                for each in _all(results, "norm_accuracy")
            ),
        ],
        " ".join(note),
    )


def _programs(results: Results) -> Table:
    """Which of the notes' programs run without a GPU, and what the others stop with."""
    return Table(
        [say("program"), say("where"), say("without a GPU")],
        [
            [
                translation(each.variant),
                place_in_words(str(each.columns["place"])),
                say("runs") if each.values[0] else say("stops: {words}", words=each.remark),
            ]
            for each in _all(results, "without_gpu")
        ],
        say(
            "What each program asks of its devices, on tiny inputs. Where there is no GPU,"
            " `try_gpu` gives the CPU, which neither `scatter` nor `torch.cuda.synchronize` takes."
            " With `tensor_split` for the one and without the other, training from scratch runs,"
            " but in notes 000 and 004 its replicas then share their parameters."
        ),
        prose=True,
    )


def _replica(m: Measurement) -> str:
    """One device, or a replica by its variant and number, as the page calls it."""
    if m.variant == ONE_DEVICE:
        return norm_variants()[m.variant]
    n = f"{m.columns['replica']:g}"
    return say("{variant}, replica {n}", variant=variants()[m.variant], n=n)


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


def _draw_gradient_changes(results: Results, path: Path) -> None:
    changes = _all(results, "gradient_change")
    values = [value for m in changes for value in m.values if value > 0]
    with figures.figure(path, figures.WIDTH, 2.4) as fig:
        axes = fig.add_subplot(xscale="log", xlim=(min(values) / 40, max(values) * 40))
        for row, m in enumerate(changes):
            colour = figures.COLOURS[1 if m.variant == WITH_BATCH_NORM else 0]
            _draw_seeds(axes, row, m.values, colour)
            axes.annotate(
                say("{percent} %", percent=small(median(m.values))),
                (median(m.values), row - 0.27),
                (0, 3),
                textcoords="offset points",
                ha="center",
                va="bottom",
                color=figures.text_colour(colour),
            )
        _rows(axes, [translation(m.variant) for m in changes])
        _powers(axes.xaxis)
        axes.set_xlabel(say("change of the gradient, % of its length"))


def _draw_norm_accuracies(results: Results, path: Path) -> None:
    shown, accuracies = norm_variants(), _all(results, "norm_accuracy")
    with figures.figure(path, figures.WIDTH, 2.4) as fig:
        axes = fig.add_subplot(xlabel=say("test accuracy of LeNet with batch norm, %"))
        for values in zip(*(m.values for m in accuracies), strict=True):
            axes.plot(values, range(len(accuracies)), color=figures.FAINT, linewidth=0.7, zorder=1)
        for row, m in enumerate(accuracies):
            _draw_seeds(axes, row, m.values, figures.COLOURS[0])
        _rows(axes, [shown[m.variant] for m in accuracies])


def _draw_seeds(axes: Axes, row: int, values: Sequence[float], colour: str) -> None:
    """Draw a dot for each seed in a row, and a bar at their median."""
    axes.plot(values, np.full(len(values), row), "o", color=colour, markersize=5, alpha=0.6)
    middle = median(values)
    axes.plot([middle, middle], [row - 0.25, row + 0.25], color=colour, linewidth=2.5)


def _rows(axes: Axes, names: list[str]) -> None:
    """Name the rows of a panel, the first on top."""
    axes.set_yticks(range(len(names)), [_in_lines(name) for name in names])
    axes.set_ylim(len(names) - 0.45, -0.55)
    axes.grid(visible=False, axis="y")
