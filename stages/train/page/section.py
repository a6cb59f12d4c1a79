"""The report's section on training (13.5): findings, figures and the table of runs."""

import itertools
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.patches import Rectangle

from lab.core.files import read_rows
from lab.core.params import PARAMS_FILE, read_yaml
from lab.data.datasets import CLASSES, Split, is_fetched, read_fashion_mnist
from lab.report import figures
from lab.report.benchmarks import TITLES
from lab.report.language import say, translation
from lab.report.page import Figure, Section, Table, TryThis
from lab.results.documents import read_metrics
from lab.results.stats import summarise
from lab.training.run_params import NOTES, RunParams
from stages.train.measure.names import (
    CONFUSION,
    EPOCH_S,
    FINAL_ACCURACY,
    FINAL_LOSS,
    SECONDS,
    TEST_ACCURACY,
    TRAIN_LOSS,
    WORST,
)

# LeNet in section 13.5: what the book prints for one and two GPUs (accuracy in percent, seconds
# per epoch; its executed notebooks of 2023, GPUs not named) and draws for one (read off its figure)
BOOK_RUNS = {1: (83, 3.0), 2: (84, 2.8)}
BOOK_LENET_1GPU_ACCURACY = (10.0, 61.1, 72.7, 72.9, 78.1, 82.3, 81.0, 76.8, 81.0, 82.7)

WITHOUT_BATCH_NORM = ("lenet", "lenet_he", "mlp")  # of the nets: devices change their rounding only
LONGEST_OF_TWO = 20  # letters of labels that stand side by side
GREYS = 16  # of the images shown: as many as tell what they are


@dataclass(frozen=True)
class TrainingRun:
    """One run of the train stage: its name, metrics and rows (one per epoch)."""

    name: str
    metrics: Mapping[str, Any]
    rows: Sequence[Mapping[str, Any]]

    @property
    def recipe(self) -> dict[str, Any]:
        """How it was trained, on whatever devices."""
        return recipe_in(self.metrics)

    def column(self, key: str) -> list[float]:
        """One value per epoch."""
        return [float(row[key]) for row in self.rows]

    @property
    def images_per_s(self) -> float:
        """Images that the median epoch learns from in a second."""
        return float(self.metrics["train_images"] / self.metrics[EPOCH_S])

    @property
    def net(self) -> str:
        """What it trains, in words."""
        nets = {
            **TITLES,
            "lenet_he": say("LeNet from He's weights"),
            "mlp": say("MLP"),
            "convnet": say("ConvNet"),
            "convnet_deep": say("deeper ConvNet"),
        }
        return nets[str(self.metrics["net"])]

    @property
    def num_devices(self) -> int:
        """How many devices share its batches."""
        return int(self.metrics["num_devices"])

    @property
    def on_devices(self) -> str:
        """The same, in words."""
        if self.num_devices == 1:
            return say("1 device")
        return say("{n} devices", n=self.num_devices)

    @property
    def devices(self) -> str:
        """What it ran on, in words."""
        kind, threads = str(self.metrics["device_kind"]), int(self.metrics["threads_per_device"])
        share = (
            say("virtual CPU of {n} threads", n=threads)
            if threads > 1
            else say("virtual CPU of 1 thread")
        )
        words = {"cuda": "GPU", "cuda-shared": say("replica on a shared GPU"), "cpu-virtual": share}
        return f"{self.num_devices} × {words[kind]}"

    @property
    def as_the_book(self) -> bool:
        """Whether each epoch trains as the book's: at its constant rate, a run may end earlier."""
        others = {"strategy": NOTES.strategy, "shards": "none", "num_epochs": NOTES.num_epochs}
        return self.metrics["dataset"] == "fashion-mnist" and self.recipe | others == recipe_in(
            NOTES.model_dump()
        )

    @property
    def book(self) -> tuple[int, float] | None:
        """The accuracy in percent and seconds per epoch that the book prints for this very run."""
        whole = self.as_the_book and self.metrics["num_epochs"] == NOTES.num_epochs
        return BOOK_RUNS.get(self.num_devices) if whole else None


def recipe_in(metrics: Mapping[str, Any]) -> dict[str, Any]:
    """The recipe in a run's metrics, which leave out its devices and how many images test it."""
    without = ("num_gpus", "test_images")
    return {key: metrics[key] for key in RunParams.model_fields if key not in without}


def labels_of(runs: Sequence[TrainingRun]) -> dict[str, str]:
    """What sentences and figures call the runs: net and devices, with the batch if it takes that.

    A run that this does not tell from another one goes by its own name.
    """
    short = [say("{net}, {devices}", net=r.net, devices=r.on_devices) for r in runs]
    full = [
        say("{run}, batch {batch}", run=text, batch=r.metrics["batch_size"])
        for r, text in zip(runs, short, strict=True)
    ]
    labels = {}
    for r, *texts in zip(runs, short, full, strict=True):
        alone = [
            t
            for t, all_of_them in zip(texts, (short, full), strict=True)
            if all_of_them.count(t) == 1
        ]
        labels[r.name] = alone[0] if alone else r.name
    return labels


def section(folder: Path) -> Section:
    """The section of `folder` (reports/train): all runs that params.yaml asks for."""
    test_set = read_fashion_mnist("t10k") if is_fetched() else None
    return section_of(folder, list(read_yaml(PARAMS_FILE)["train"]["runs"]), test_set)


def section_of(folder: Path, names: Sequence[str], test_set: Split | None) -> Section:
    """The section of the runs `names` of `folder` (reports/train).

    The mistakes shown are those of the run that labels the test images best; which images it takes
    for what is shown where they are there.
    """
    runs = [
        TrainingRun(n, read_metrics(folder / n), read_rows(folder / n / "rows.csv")) for n in names
    ]
    return Section(
        stage="train",
        title=say("Training on one device and on several"),
        book="13.5",
        question=say(
            "Does splitting a batch over devices change what is learned, and what does it buy?"
        ),
        answer=_answer(runs),
        findings=findings(runs),
        figures=[_curves(runs), _times(runs), *_mistakes(folder, runs, test_set)],
        tables=[_table(runs)],
        try_this=_try_this(runs[0]),
    )


def _curves(runs: Sequence[TrainingRun]) -> Figure:
    shown, labels = _to_compare(runs), labels_of(runs)
    caption = [say("Wide lines: one device. Narrow lines on top: several.")]
    if any(r.as_the_book for r in shown):
        caption.append(
            say("Dashed: the book's run, read off its figure (one run on a GPU, no fixed seed).")
        )
    return Figure(
        "training_curves",
        say("Test accuracy and training loss by epoch, on one device and on several."),
        " ".join(caption),
        [partial(draw_accuracy, shown, labels), partial(draw_loss, shown, labels)],
    )


def _times(runs: Sequence[TrainingRun]) -> Figure:
    return Figure(
        "epoch_time",
        say("Seconds of training per epoch, one bar per run."),
        say(
            "Bars: medians; dots: epochs. Training alone, all devices waited for; evaluation and"
            " one step of warm-up are left out."
        ),
        [partial(draw_epoch_time, group) for group in _by_net(runs)],
    )


def _mistakes(folder: Path, runs: Sequence[TrainingRun], test_set: Split | None) -> list[Figure]:
    best = max(runs, key=lambda r: float(r.metrics[FINAL_ACCURACY]))
    label = labels_of(runs)[best.name]
    confusion, worst = (read_rows(folder / best.name / name) for name in (CONFUSION, WORST))
    found = [
        Figure(
            "confusion",
            say("What {run} takes each class for.", run=label),
            say(
                "{run}: percent of each class's test images by the label they get. Blue: right."
                " Orange: wrong, the darker the more often. Blank: 0.5 % or less.",
                run=label,
            ),
            [partial(draw_confusion, confusion)],
        )
    ]
    if test_set is not None:
        worst_images = Figure(
            "worst",
            say("The test images that {run} is most wrong about.", run=label),
            say(
                "{run}: above each image its true class; below it, in orange, the label it gets."
                " Shown are those whose own class gets the least probability.",
                run=label,
            ),
            [partial(draw_worst, worst, test_set)],
        )
        found.append(worst_images)
    return found


def _try_this(run: TrainingRun) -> TryThis | None:
    if run.metrics["net"] != "lenet":
        return None
    return TryThis(
        f"train.runs.{run.name}.lr",
        f"{run.metrics['lr'] / 2:g}",
        say("How much longer does LeNet stay at chance (10 %) with half the learning rate?"),
        say(
            "About twice as long: weights drawn this small begin near a saddle of the loss, and"
            " the number of steps to leave one is inversely proportional to the learning rate."
        ),
    )


def _table(runs: Sequence[TrainingRun]) -> Table:
    header = [
        say("run"),
        say("devices and method"),
        say("images × epochs"),
        say("batch, learning rate"),
        say("training loss"),
        say("test accuracy"),
    ]
    rows = []
    for r in runs:
        m = r.metrics
        compiled = [] if m["compile"] == "none" else [say("compiled")]
        divided = [] if m["shards"] == "none" else [say("{n} shards", n=m["shards"])]
        rows.append(
            [
                r.name,
                say(", ").join([r.devices, m["strategy"], m["precision"], *compiled, *divided]),
                f"{m['train_images']:,} × {m['num_epochs']}",
                f"{m['batch_size']}, {m['lr']:g}",
                f"{m[FINAL_LOSS]:.3f}",
                f"{m[FINAL_ACCURACY]:.2f} %",
            ]
        )
    return Table(
        header,
        rows,
        say(
            "Runs, methods and precisions are named as in params.yaml. The learning rate of a"
            " one-cycle run is its highest. All are of one seed: another one moves accuracies, too."
        ),
    )


def findings(runs: Sequence[TrainingRun]) -> list[str]:
    """What the pairs that differ in devices alone show, and what the rest does."""
    pairs = _pairs(runs)
    return [
        *[_learned(*pair) for pair in pairs[1:]],
        *[_took(*pair) for pair in pairs],
        *_rounding(pairs),
        *_at_chance(runs),
        *_beside_the_book(runs),
        *_short(runs),
    ]


def _answer(runs: Sequence[TrainingRun]) -> str:
    if pairs := _pairs(runs):
        return _learned(*pairs[0])
    best = max(runs, key=lambda r: float(r.metrics[FINAL_ACCURACY]))
    return say(
        "No two runs differ in devices alone; the best one ({run}) ends at {accuracy:.1f} % test"
        " accuracy.",
        run=labels_of(runs)[best.name],
        accuracy=best.metrics[FINAL_ACCURACY],
    )


def _pairs(runs: Sequence[TrainingRun]) -> list[tuple[TrainingRun, TrainingRun]]:
    """The runs that differ in devices alone, the one on one device first."""
    return [(one, many) for one in runs for many in runs if _differ_in_devices_only(one, many)]


def _differ_in_devices_only(one: TrainingRun, many: TrainingRun) -> bool:
    where = ("dataset", "device_kind", "threads_per_device")
    return (
        one.recipe == many.recipe
        and all(one.metrics[key] == many.metrics[key] for key in where)
        and one.num_devices == 1 < many.num_devices
    )


def _learned(one: TrainingRun, many: TrainingRun) -> str:
    """By how much two runs that differ in devices alone part, and whether that is rounding."""
    gap = max(
        abs(a - b)
        for a, b in zip(one.column(TEST_ACCURACY), many.column(TEST_ACCURACY), strict=True)
    )
    numbers = {"net": one.net, "n": many.num_devices, "points": 100 * gap}
    if one.metrics["net"] in WITHOUT_BATCH_NORM:
        return say(
            "The algorithm stays the same: with {net} on 1 and on {n} devices test accuracies"
            " differ by at most {points:.1f} points at any epoch.",
            **numbers,
        )
    return say(
        "{net} on {n} devices is another algorithm: batch norm sees each device's images alone."
        " Test accuracies of one seed each differ by up to {points:.1f} points.",
        **numbers,
    )


def _took(one: TrainingRun, many: TrainingRun) -> str:
    return say(
        "{net}: {one_s:.1f} s per epoch on 1 device, {many_s:.1f} s on {n}. They ran one after the"
        " other, so no speed-up is claimed.",
        net=one.net,
        one_s=one.metrics[EPOCH_S],
        many_s=many.metrics[EPOCH_S],
        n=many.num_devices,
    )


def _rounding(pairs: Sequence[tuple[TrainingRun, TrainingRun]]) -> list[str]:
    if not any(one.metrics["net"] in WITHOUT_BATCH_NORM for one, _ in pairs):
        return []
    return [
        say(
            "Several devices add the same gradients in another order; the difference in rounding"
            " grows over thousands of steps."
        )
    ]


def _at_chance(runs: Sequence[TrainingRun]) -> list[str]:
    return [
        say(
            "{net} is still at chance after its first epoch: tiny starting weights (0.01 times a"
            " standard normal) make signals and gradients tiny.",
            net=r.net,
        )
        for r in runs[:1]
        if r.column(TEST_ACCURACY)[0] < 0.12
    ]


def _beside_the_book(runs: Sequence[TrainingRun]) -> list[str]:
    return [
        say(
            "{run}: {accuracy:.1f} % in the end, {seconds:.1f} s per epoch; the book prints"
            " {book} % and {book_s} s (GPU not named).",
            run=labels_of(runs)[r.name],
            accuracy=r.metrics[FINAL_ACCURACY],
            seconds=r.metrics[EPOCH_S],
            book=r.book[0],
            book_s=r.book[1],
        )
        for r in runs
        if r.book
    ]


def _short(runs: Sequence[TrainingRun]) -> list[str]:
    """What an epoch of a part of the images is good for."""
    short = [r for r in runs if len(r.rows) == 1 and r.metrics["train_images"] < NOTES.train_images]
    if not short:
        return []
    return [
        say(
            "{nets}: one epoch of {images} images shows speed, not accuracy. The profile “full”"
            " trains as the notes do.",
            nets=say(", ").join(dict.fromkeys(r.net for r in short)),
            images=_images_of(short),
        )
    ]


def _to_compare(runs: Sequence[TrainingRun]) -> list[TrainingRun]:
    """The runs of several epochs whose nets were trained on one device and on several."""
    long = [r for r in runs if len(r.rows) > 1] or list(runs)
    several = _nets_on_several(long)
    return [r for r in long if r.net in several] or long


def _by_net(runs: Sequence[TrainingRun]) -> list[list[TrainingRun]]:
    """The runs by net; those of nets that ran on one number of devices alone come together."""
    several = _nets_on_several(runs)
    groups = [[r for r in runs if r.net == net] for net in several]
    others = [r for r in runs if r.net not in several]
    return [*groups, others] if others else groups


def _nets_on_several(runs: Sequence[TrainingRun]) -> list[str]:
    """The nets that were trained on more than one number of devices."""
    nets = dict.fromkeys(r.net for r in runs)
    return [net for net in nets if len({r.num_devices for r in runs if r.net == net}) > 1]


def draw_accuracy(runs: Sequence[TrainingRun], labels: Mapping[str, str], path: Path) -> None:
    """Draw test accuracy by epoch; behind the book's own run, its curve."""
    columns = _columns(labels[r.name] for r in runs)
    with figures.figure(path, figures.WIDTH, 2.8 + 0.2 * (1 + len(runs)) / columns) as fig:
        axes = fig.add_subplot(xlabel=say("epoch"), ylabel=say("test accuracy (%)"), ylim=(0, 100))
        if any(r.as_the_book for r in runs):
            last = min(NOTES.num_epochs, max(len(r.rows) for r in runs))
            axes.plot(
                range(1, last + 1),
                BOOK_LENET_1GPU_ACCURACY[:last],
                color=figures.FAINT,
                dashes=(3, 2),
                label=say("the book's run"),
            )
        curves = [[100 * v for v in r.column(TEST_ACCURACY)] for r in runs]
        _draw_lines(axes, runs, labels, curves)
        figures.key(fig, axes, columns)


def draw_loss(runs: Sequence[TrainingRun], labels: Mapping[str, str], path: Path) -> None:
    """Draw training loss by epoch."""
    curves = [r.column(TRAIN_LOSS) for r in runs]
    columns = _columns(labels[r.name] for r in runs)
    with figures.figure(path, figures.WIDTH, 2.8 + 0.2 * (1 + len(runs)) / columns) as fig:
        axes = fig.add_subplot(
            xlabel=say("epoch"),
            ylabel=say("training loss (cross-entropy)"),
            ylim=(0, 1.1 * max(itertools.chain(*curves))),
        )
        _draw_lines(axes, runs, labels, curves)
        figures.key(fig, axes, columns)


def _columns(labels: Iterable[str]) -> int:
    """How many of these labels stand side by side under a panel."""
    return 2 if max(map(len, labels)) <= LONGEST_OF_TWO else 1


def _draw_lines(
    axes: Axes,
    runs: Sequence[TrainingRun],
    labels: Mapping[str, str],
    curves: Sequence[list[float]],
) -> None:
    """Draw a line per run, narrow ones of several devices over the wide ones of one device."""
    for i, (r, curve) in enumerate(zip(runs, curves, strict=True)):
        one = r.num_devices == 1
        axes.plot(
            r.column("epoch"),
            curve,
            color=figures.COLOURS[i % len(figures.COLOURS)],
            alpha=0.5 if one else 1,
            linewidth=5 if one else 1.5,
            marker=None if one and len(curve) > 1 else "o",
            markersize=4,
            zorder=2 if one else 3,
            label=labels[r.name],
        )
    last = max(len(curve) for curve in curves)
    axes.set_xlim(0.8, last + 0.2)
    axes.set_xticks(range(1, last + 1, math.ceil(last / 10)))


def draw_epoch_time(runs: Sequence[TrainingRun], path: Path) -> None:
    """Draw each epoch's seconds as a dot over the run's median; of one net, or of several."""
    one_net = len({r.net for r in runs}) == 1
    title = say(
        "{nets}: {images} images an epoch",
        nets=runs[0].net if one_net else say("Other nets"),
        images=_images_of(runs),
    )
    names = [
        say(
            "{run}, batch {batch}",
            run=r.on_devices if one_net else r.net,
            batch=r.metrics["batch_size"],
        )
        for r in runs
    ]
    with figures.figure(path, figures.WIDTH, 0.9 + 0.55 * len(runs)) as fig:
        axes = fig.add_subplot(xlabel=say("seconds of training per epoch"))
        axes.set_title(title)
        for i, r in enumerate(runs):
            seconds = r.column(SECONDS)
            virtual = r.metrics["device_kind"] == "cpu-virtual"
            figures.bar_with_samples(axes, i, seconds, figures.COLOURS[0], virtual)
            speed = [
                say("{seconds} s", seconds=_digits(summarise(seconds).median)),
                say("{rate} images/s", rate=f"{r.images_per_s:,.0f}"),
            ]
            axes.annotate(
                "\n".join(speed), (max(seconds), i), (8, 0), textcoords="offset points", va="center"
            )
        axes.set_yticks(range(len(runs)), [_in_lines(name) for name in names])
        axes.set_xlim(0, 1.6 * max(max(r.column(SECONDS)) for r in runs))
        axes.invert_yaxis()
        axes.grid(visible=False, axis="y")


def _images_of(runs: Sequence[TrainingRun]) -> str:
    """How many images the runs learn from in an epoch."""
    return say(", ").join(dict.fromkeys(f"{r.metrics['train_images']:,}" for r in runs))


def _digits(number: float) -> str:
    return f"{number:.0f}" if number >= 100 else f"{number:.3g}"


def _in_lines(name: str) -> str:
    """A name of two parts on two lines, which leaves more width to what is drawn."""
    return name.replace(", ", ",\n", 1).replace("，", "，\n", 1)


def draw_confusion(rows: Sequence[Mapping[str, Any]], path: Path) -> None:
    """Draw the share of each class's images (rows) that gets each label (columns)."""
    counts = np.array([[float(row[name]) for name in CLASSES] for row in rows])
    shares = 100 * counts / np.maximum(1, counts.sum(1, keepdims=True))
    names = [translation(name) for name in CLASSES]
    with figures.figure(path, figures.WIDTH, 4.6) as fig:
        axes = fig.add_subplot(xlabel=say("labelled as"), ylabel=say("true class"))
        for i, j in np.argwhere(np.rint(shares) > 0):
            _draw_cell(axes, int(i), int(j), float(shares[i, j]))
        axes.set_xticks(range(len(names)), names, rotation=90)
        axes.set_yticks(range(len(names)), names)
        axes.set(xlim=(-0.5, len(names) - 0.5), ylim=(len(names) - 0.5, -0.5))
        axes.tick_params(length=0)
        axes.grid(visible=False)


def _draw_cell(axes: Axes, i: int, j: int, share: float) -> None:
    """Draw a cell so pale that the page's own ink can be read on it, on light and on dark paper."""
    right = i == j
    strength = 0.3 if right else min(0.6, 0.1 + round(share / 50, 1))
    colour = figures.COLOURS[0 if right else 1]
    axes.add_patch(
        Rectangle((j - 0.5, i - 0.5), 1, 1, facecolor=colour, alpha=strength, linewidth=0)
    )
    axes.text(j, i, f"{share:.0f}", ha="center", va="center")


def draw_worst(
    rows: Sequence[Mapping[str, Any]], test_set: Split, path: Path, columns: int = 5
) -> None:
    """Draw images with their class and what they are taken for."""
    wrong = figures.text_colour(figures.COLOURS[1])
    with figures.figure(path, figures.WIDTH, 2.9) as fig:
        panels = fig.subplots(2, columns).flat
        for axes, row in itertools.zip_longest(panels, rows[: 2 * columns]):
            if row is None:
                axes.set_axis_off()
                continue
            step = 256 // GREYS
            image = (255 - test_set.images[int(row["image"])]) // step * step
            axes.imshow(image, cmap="gray", vmin=0, vmax=255 - step + 1, interpolation="none")
            axes.set_title(translation(str(row["class"])), loc="center", fontweight="normal")
            axes.set_xlabel(translation(str(row["taken_for"])), color=wrong)
            axes.set(xticks=[], yticks=[])
            axes.grid(visible=False)
            axes.spines[:].set_visible(False)
