"""The report's section on training (13.5): findings, figures and the table of runs."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.axes import Axes

from lab.core.files import read_json, read_rows
from lab.core.params import PARAMS_FILE, read_yaml
from lab.data.datasets import CLASSES, Split, read_fashion_mnist
from lab.report import figures
from lab.report.language import say
from lab.report.page import Figure, Section, Table, TryThis
from lab.results.stats import summarise
from stages.train.names import (
    CONFUSION,
    EPOCH_S,
    EPOCH_S_IQR,
    FINAL_ACCURACY,
    FINAL_LOSS,
    SECONDS,
    TEST_ACCURACY,
    TRAIN_LOSS,
    WORST,
)

# LeNet in section 13.5: what the book prints for one and two GPUs (accuracy in percent, seconds
# per epoch; its executed notebooks of 2023, GPUs not named) and draws for one (read off its figure)
BOOK_SETTINGS = {
    "net": "lenet",
    "dataset": "fashion-mnist",
    "precision": "fp32",
    "compile": "none",
    "train_images": 60_000,
    "batch_size": 256,
    "lr": 0.2,
    "momentum": 0.0,
    "label_smoothing": 0.0,
    "schedule": "constant",
    "augment": "none",
}
BOOK_EPOCHS = 10
EVERY_IMAGE = 60_000  # of Fashion-MNIST's training set
BOOK_RUNS = {1: (83, 3.0), 2: (84, 2.8)}
BOOK_LENET_1GPU_ACCURACY = (10.0, 61.1, 72.7, 72.9, 78.1, 82.3, 81.0, 76.8, 81.0, 82.7)


@dataclass(frozen=True)
class TrainingRun:
    """One run of the train stage: its name, metrics and rows (one per epoch)."""

    name: str
    metrics: Mapping[str, Any]
    rows: Sequence[Mapping[str, Any]]

    def column(self, key: str) -> list[float]:
        """One value per epoch."""
        return [float(row[key]) for row in self.rows]

    @property
    def images_per_s(self) -> float:
        """Images that the median epoch learns from in a second."""
        return float(self.metrics["train_images"] / self.metrics[EPOCH_S])

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
        return f"{self.metrics['num_devices']:.0f} × {words[kind]}"

    @property
    def as_the_book(self) -> bool:
        """Whether each epoch trains as the book's: at its constant rate, a run may end earlier."""
        return all(self.metrics[key] == value for key, value in BOOK_SETTINGS.items())

    @property
    def book(self) -> tuple[int, float] | None:
        """The accuracy in percent and seconds per epoch that the book prints for this very run."""
        whole = self.as_the_book and self.metrics["num_epochs"] == BOOK_EPOCHS
        return BOOK_RUNS.get(int(self.metrics["num_devices"])) if whole else None

    @property
    def noisy(self) -> bool:
        """Whether the seconds per epoch spread over more than a tenth of their median."""
        return summarise(self.column(SECONDS)).noisy


def section(folder: Path) -> Section:
    """The section of `folder` (reports/train): all runs that params.yaml asks for."""
    return section_of(
        folder, list(read_yaml(PARAMS_FILE)["train"]["runs"]), read_fashion_mnist("t10k")
    )


def section_of(folder: Path, names: Sequence[str], test_set: Split) -> Section:
    """The section of the runs `names` of `folder` (reports/train).

    The mistakes shown are those of the run that labels `test_set` best.
    """
    runs = [
        TrainingRun(n, read_json(folder / n / "metrics.json"), read_rows(folder / n / "rows.csv"))
        for n in names
    ]
    best = max(runs, key=lambda r: float(r.metrics[FINAL_ACCURACY]))
    confusion, worst = (read_rows(folder / best.name / name) for name in (CONFUSION, WORST))
    curves = [say("One line per run of several epochs, wide under narrow where they coincide.")]
    if any(r.as_the_book for r in runs):
        curves.append(
            say("Dashed: the accuracies read off the book's own figure, one unseeded run on a GPU.")
        )
    halved = f"{runs[0].metrics['lr'] / 2:g}"
    return Section(
        stage="train",
        title=say("Training on one device and on several"),
        book="13.5",
        question=say(
            "Does splitting a batch over devices change what is learned, and what does it buy?"
        ),
        findings=findings(runs),
        figures=[
            Figure(
                "training_curves",
                say("Test accuracy and training loss by epoch."),
                " ".join(curves),
                partial(draw_training_curves, runs),
            ),
            Figure(
                "epoch_time",
                say("Seconds of training per epoch, one bar per run, as in the table."),
                say(
                    "Training alone, with all devices synchronised before each reading of the"
                    " clock; evaluation and one warm-up step are outside. The nets train on"
                    " different numbers of images: see the table."
                ),
                partial(draw_epoch_time, runs),
            ),
            Figure(
                "confusion",
                say("What {run} takes each class for.", run=best.name),
                say(
                    "Test images by their own class (rows) and by the label that {run} gives them,"
                    " in percent of the row.",
                    run=best.name,
                ),
                partial(draw_confusion, confusion),
            ),
            Figure(
                "worst",
                say("The test images that {run} is most wrong about.", run=best.name),
                say(
                    "Those whose own class gets the least probability: above each its class, and"
                    " what it is taken for."
                ),
                partial(draw_worst, worst, test_set),
            ),
        ],
        tables=[_table(runs)],
        try_this=TryThis(
            f"train.runs.{runs[0].name}.lr", f"{halved}", say("see what half the rate does")
        ),
    )


def _table(runs: Sequence[TrainingRun]) -> Table:
    header = [
        say("run"),
        say("devices"),
        say("images · batch · rate · epochs"),
        say("test accuracy"),
        say("train loss"),
        say("s/epoch (IQR)"),
        say("images/s"),
        say("book: accuracy, s/epoch"),
    ]
    rows = []
    for r in runs:
        m = r.metrics
        compiled = [] if m["compile"] == "none" else [say("compiled")]
        rows.append(
            [
                r.name,
                ", ".join([r.devices, m["strategy"], m["precision"], *compiled]),
                f"{m['train_images']:,} · {m['batch_size']} · {m['lr']} · {m['num_epochs']}",
                f"{m[FINAL_ACCURACY]:.2f} %",
                f"{m[FINAL_LOSS]:.4f}",
                f"{m[EPOCH_S]:.2f} ({m[EPOCH_S_IQR]:.2f})"
                + (" " + say("noisy") if r.noisy else ""),
                f"{r.images_per_s:,.0f}",
                f"{r.book[0]} %, {r.book[1]}" if r.book else "–",
            ]
        )
    return Table(
        header,
        rows,
        say(
            "Seconds and images/s are medians over epochs, IQR their interquartile range; “noisy”"
            " marks an IQR over a tenth of the median. The book's numbers are what its executed"
            " notebooks print, on GPUs that it does not name."
        ),
    )


def findings(runs: Sequence[TrainingRun]) -> list[str]:
    """Where each run ended, and how each pair that differs in devices alone compares."""
    learned = [r for r in runs if len(r.rows) > 1 or r.metrics["train_images"] == EVERY_IMAGE]
    sentences = [_end(r) for r in learned]
    short = [r.name for r in runs if r not in learned]
    if short:
        sentences.append(
            say(
                "{runs}: one epoch on a subset shows that they train and how fast, not how well."
                " The profile `full` trains them as the notes do.",
                runs=", ".join(short),
            )
        )
    sentences += [
        say(
            "{run} is still at chance after its first epoch: weights of 0.01 times a standard"
            " normal make signals and gradients tiny until the layers have grown.",
            run=r.name,
        )
        for r in runs[:1]
        if r.column(TEST_ACCURACY)[0] < 0.12
    ]
    return sentences + [
        _compare(one, many) for one in runs for many in runs if _differ_in_devices_only(one, many)
    ]


def _end(run: TrainingRun) -> str:
    end = {"run": run.name, "accuracy": run.metrics[FINAL_ACCURACY], "epochs": len(run.rows)}
    if not run.book:
        return say("{run} ends at {accuracy:.1f} % test accuracy after {epochs} epochs.", **end)
    return say(
        "{run} ends at {accuracy:.1f} % test accuracy after {epochs} epochs; the book prints"
        " {book} %.",
        **end,
        book=run.book[0],
    )


def _differ_in_devices_only(one: TrainingRun, many: TrainingRun) -> bool:
    same = (
        "net",
        "strategy",
        "precision",
        "compile",
        "dataset",
        "train_images",
        "batch_size",
        "lr",
        "momentum",
        "label_smoothing",
        "schedule",
        "augment",
        "num_epochs",
        "device_kind",
        "threads_per_device",
    )
    return all(one.metrics[k] == many.metrics[k] for k in same) and (
        one.metrics["num_devices"] == 1 < many.metrics["num_devices"]
    )


def _compare(one: TrainingRun, many: TrainingRun) -> str:
    same_algorithm = one.metrics["net"] == "lenet"
    why = (
        say(
            "both add the same gradients, in another order, and rounding grows over thousands of"
            " steps."
        )
        if same_algorithm
        else say("batch norm sees each device's share alone, so these are two algorithms.")
    )
    gap = max(
        abs(a - b)
        for a, b in zip(one.column(TEST_ACCURACY), many.column(TEST_ACCURACY), strict=True)
    )
    return say(
        "{many} took {many_s:.1f} s per epoch on {many_devices}, {one} {one_s:.1f} s on"
        " {one_devices}, one run after the other: no speed-up is claimed from times that were not"
        " taken side by side. Their test accuracies differ by at most {points:.1f} points at any"
        " epoch: {why}",
        many=many.name,
        many_s=many.metrics[EPOCH_S],
        many_devices=many.devices,
        one=one.name,
        one_s=one.metrics[EPOCH_S],
        one_devices=one.devices,
        points=100 * gap,
        why=why,
    )


def draw_training_curves(runs: Sequence[TrainingRun], path: Path) -> None:
    """Draw test accuracy and training loss by epoch; behind the book's own run, its curve."""
    runs = [r for r in runs if len(r.rows) > 1] or runs
    with figures.figure(path, 9, 3.8) as fig:
        accuracy, loss = fig.subplots(1, 2)
        accuracy.set(title="Test accuracy (%)", xlabel="epoch", ylim=(0, 100))
        highest = max(max(r.column(TRAIN_LOSS)) for r in runs)
        loss.set(
            title="Training loss (cross-entropy per image)", xlabel="epoch", ylim=(0, 1.1 * highest)
        )
        if any(r.as_the_book for r in runs):
            epochs = range(1, BOOK_EPOCHS + 1)
            accuracy.plot(epochs, BOOK_LENET_1GPU_ACCURACY, color=figures.FAINT, dashes=(3, 2))
            accuracy.annotate("the book's run", (4, 72.9), (4.2, 58), color=figures.FAINT)
        _draw_lines(accuracy, runs, [[100 * v for v in r.column(TEST_ACCURACY)] for r in runs])
        _draw_lines(loss, runs, [r.column(TRAIN_LOSS) for r in runs])


def _draw_lines(axes: Axes, runs: Sequence[TrainingRun], curves: Sequence[list[float]]) -> None:
    """Draw a named line per run, later ones thinner so that equal curves both show."""
    ends = []
    for i, (run_, curve) in enumerate(zip(runs, curves, strict=True)):
        colour, epochs = figures.COLOURS[i % len(figures.COLOURS)], run_.column("epoch")
        width, size = max(1.5, 5 - 3 * i), max(3, 7 - 3 * i)
        axes.plot(epochs, curve, color=colour, linewidth=width, marker="o", markersize=size)
        ends.append((run_.name, epochs[-1], curve[-1], colour))
    last = max(epoch for _, epoch, _, _ in ends)
    axes.set_xlim(0.8, last + 0.2)
    axes.set_xticks(range(1, int(last) + 1, math.ceil(last / 10)))
    figures.label_ends(axes, ends)


def draw_epoch_time(runs: Sequence[TrainingRun], path: Path) -> None:
    """Draw each epoch's seconds as a dot over the run's median, a panel for each net."""
    nets = list(dict.fromkeys(str(r.metrics["net"]) for r in runs))
    groups = [[r for r in runs if r.metrics["net"] == net] for net in nets]
    with figures.figure(path, 9, 1.1 + 0.62 * len(runs)) as fig:
        panels = fig.subplots(
            len(nets), 1, squeeze=False, height_ratios=[len(group) for group in groups]
        )
        for axes, group, net in zip(panels[:, 0], groups, nets, strict=True):
            longest = max(max(r.column(SECONDS)) for r in group)
            for i, run_ in enumerate(group):
                seconds = run_.column(SECONDS)
                virtual = run_.metrics["device_kind"] == "cpu-virtual"
                figures.bar_with_samples(
                    axes, i, seconds, figures.COLOURS[i % len(figures.COLOURS)], virtual
                )
                speed = f"{summarise(seconds).median:.3g} s, {run_.images_per_s:,.0f} images/s"
                axes.annotate(
                    speed, (max(seconds), i), (8, 0), textcoords="offset points", va="center"
                )
            axes.set_yticks(range(len(group)), [f"{r.name}\n{r.devices}" for r in group])
            axes.set(title=net, xlim=(0, longest * 1.45))
            axes.invert_yaxis()
            axes.grid(visible=False, axis="y")
        panels[-1, 0].set_xlabel("seconds of training per epoch (dots: epochs, bar: median)")


def draw_confusion(rows: Sequence[Mapping[str, Any]], path: Path) -> None:
    """Draw the share of each class's images (rows) that gets each label (columns)."""
    counts = np.array([[float(row[name]) for name in CLASSES] for row in rows])
    shares = 100 * counts / np.maximum(1, counts.sum(1, keepdims=True))
    with figures.figure(path, 8, 5.2) as fig:
        axes = fig.add_subplot(xlabel="labelled as (percent)")
        axes.imshow(shares, cmap="Blues", vmin=0, vmax=100, aspect="auto")
        for i, j in np.argwhere(shares >= 0.5):
            colour = (
                figures.PAPER if shares[i, j] > 55 else "#1b1f24"
            )  # on the cell, whatever the page's own ink
            axes.text(
                j, i, f"{shares[i, j]:.0f}", ha="center", va="center", color=colour, fontsize=10
            )
        axes.set_xticks(range(len(CLASSES)), CLASSES, rotation=40, ha="right")
        axes.set_yticks(range(len(CLASSES)), CLASSES)
        axes.grid(visible=False)


def draw_worst(
    rows: Sequence[Mapping[str, Any]], test_set: Split, path: Path, columns: int = 7
) -> None:
    """Draw images with their class and what they are taken for."""
    shown = rows[: 2 * columns]
    with figures.figure(path, 10, 4) as fig:
        for axes in fig.subplots(2, columns).flat:
            axes.axis("off")
        for axes, row in zip(fig.axes, shown, strict=False):
            axes.imshow(255 - test_set.images[int(row["image"])], cmap="gray", vmin=0, vmax=255)
            axes.set_title(
                f"{row['class']},\nfor {row['taken_for']}", fontsize=9, fontweight="normal"
            )
