"""Figures and tables of the page on training on several devices: runs that should agree."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from lab.core.files import REPORTS, ROWS, read_rows
from lab.core.params import PARAMS_FILE, read_yaml
from lab.report import figures as style
from lab.report.benchmarks import net_title
from lab.report.language import say
from lab.report.page import Figure
from lab.results.findings import Finding, Findings
from lab.results.measurements import Results
from lab.training.run_params import NOTES, RunParams
from stages.train.findings import FEWEST_STEPS

WITHOUT_BATCH_NORM = ("lenet", "lenet_he", "mlp")


@dataclass(frozen=True)
class TrainingRun:
    name: str
    results: Results
    found: Findings

    @property
    def conditions(self) -> Mapping[str, Any]:
        """The run's recipe, its devices, and the hash of its weights."""
        return self.results.conditions

    @property
    def num_epochs(self) -> int:
        return len(self.results.xs("epochs", "test_accuracy"))

    @property
    def recipe(self) -> dict[str, Any]:
        """The run's recipe without its devices."""
        return recipe_in(self.conditions)

    def column(self, key: str) -> list[float]:
        """Return one value per epoch, from the first seed."""
        return [m.values[0] for m in self.results.series("epochs", key)]

    @property
    def net(self) -> str:
        """The net in words."""
        return net_title(str(self.conditions["net"]))

    @property
    def num_devices(self) -> int:
        """The number of devices that share a batch."""
        return int(self.conditions["num_devices"])

    @property
    def accuracy(self) -> Finding:
        """Test accuracy after the last epoch, in percent; missing while the net only guesses."""
        return self.found["test_accuracy_percent"]

    @property
    def epoch_s(self) -> Finding | None:
        """Training seconds per epoch, if several epochs were timed."""
        return self.found.get("epoch_s")

    @property
    def as_the_book(self) -> bool:
        """True if epochs train as in the book, however many: the rate is constant."""
        others = {
            "strategy": NOTES.strategy,
            "shards": "none",
            "num_epochs": NOTES.num_epochs,
            "seeds": NOTES.seeds,
        }
        return self.conditions["dataset"] == "fashion-mnist" and self.recipe | others == recipe_in(
            NOTES.model_dump()
        )

    @property
    def points_from_the_book(self) -> float:
        """The largest difference from the book's run, in points of test accuracy."""
        ours = (100 * accuracy for accuracy in self.column("test_accuracy"))
        return max(abs(a - b) for a, b in zip(ours, BOOK_ACCURACY, strict=False))


@dataclass(frozen=True)
class Pair:
    """Two runs that differ only in their devices."""

    one: TrainingRun
    many: TrainingRun

    @property
    def points(self) -> list[float]:
        """The difference after each epoch, in points of test accuracy."""
        accuracies = (run.column("test_accuracy") for run in (self.one, self.many))
        return [100 * abs(a - b) for a, b in zip(*accuracies, strict=True)]

    @property
    def most_points(self) -> float:
        """The largest of these differences."""
        return max(self.points)

    @property
    def first_loss(self) -> float:
        """The difference of the first epoch's losses, relative to the loss on one device."""
        one, many = (run.column("train_loss")[0] for run in (self.one, self.many))
        return abs(one - many) / one

    @property
    def weights(self) -> str:
        """Words for a comparison of the final weights."""
        of_one, of_many = (run.conditions["weights_sha256"] for run in (self.one, self.many))
        return say("bit-for-bit identical") if of_one == of_many else say("different")

    @property
    def has_batch_norm(self) -> bool:
        return self.one.conditions["net"] not in WITHOUT_BATCH_NORM


# the notes' ResNet-18 on one GPU: a record, not trained here
RESNET_RECORD = REPORTS / "reference" / "h200" / "train" / "resnet18_1gpu" / ROWS
# section 13.6's accuracy for it, and for two GPUs with twice the batch and the rate
BOOK_RESNET_ON_ONE, BOOK_RESNET_ON_TWO = 0.91, 0.73

# LeNet on one GPU in section 13.5, read off its figure (percent; GPU not named, no fixed seed)
BOOK_ACCURACY = (10.0, 61.1, 72.7, 72.9, 78.1, 82.3, 81.0, 76.8, 81.0, 82.7)


def values(results: Mapping[str, Results], found: Mapping[str, Findings]) -> dict[str, object]:
    runs = runs_of(results, found)
    pairs = pairs_of(runs)
    same = next((pair for pair in pairs if not pair.has_batch_norm), None)
    return {
        "runs": runs,
        "pairs": pairs,
        "same": same,
        "from_book": next(
            (run.points_from_the_book for run in runs if run.as_the_book and run.num_devices == 1),
            None,
        ),
        "tried": (same.many if same else runs[0]).name,
        "untrained": [
            name for name in read_yaml(PARAMS_FILE)["train"]["runs"] if name not in results
        ],
        "record": resnet_record(),
        "fewest_steps": FEWEST_STEPS,
    }


def figures(results: Mapping[str, Results], found: Mapping[str, Findings]) -> list[Figure]:
    runs, record = compared(runs_of(results, found)), resnet_record()
    curves = Figure("training_curves", [partial(draw_accuracy, runs)])
    return [curves, *([Figure("resnet_record", [partial(draw_record, record)])] if record else [])]


def runs_of(results: Mapping[str, Results], found: Mapping[str, Findings]) -> list[TrainingRun]:
    return [TrainingRun(name, results[name], found[name]) for name in results]


def resnet_record() -> list[float]:
    """Return the test accuracy after each epoch of the record; empty if the record was deleted."""
    if not RESNET_RECORD.is_file():
        return []
    return [float(row["test_accuracy"]) for row in read_rows(RESNET_RECORD)]


def pairs_of(runs: Sequence[TrainingRun]) -> list[Pair]:
    """Return pairs of runs that learn and differ only in devices, the single device first."""
    learn = [run for run in runs if run.accuracy]
    return [Pair(one, many) for one in learn for many in learn if _differ_in_devices(one, many)]


def compared(runs: Sequence[TrainingRun]) -> list[TrainingRun]:
    """Return the runs to draw: pairs of several epochs, or else all runs."""
    long = [run for run in runs if run.num_epochs > 1] or list(runs)
    names = {run.name for pair in pairs_of(long) for run in (pair.one, pair.many)}
    return [run for run in long if run.name in names] or long


def labels_of(runs: Sequence[TrainingRun]) -> dict[str, str]:
    """Return the runs' labels: network and devices, or the run's name if that is ambiguous."""
    words = {
        run.name: say("{net}, 1 device", net=run.net)
        if run.num_devices == 1
        else say("{net}, {n} devices", net=run.net, n=run.num_devices)
        for run in runs
    }
    found = list(words.values())
    return {name: text if found.count(text) == 1 else name for name, text in words.items()}


def recipe_in(conditions: Mapping[str, Any]) -> dict[str, Any]:
    """Return the recipe in a run's conditions, without its devices and number of test images."""
    without = ("num_gpus", "test_images")
    return {key: conditions[key] for key in RunParams.model_fields if key not in without}


def _differ_in_devices(one: TrainingRun, many: TrainingRun) -> bool:
    where = ("dataset", "device_kind", "threads_per_device")
    return (
        one.recipe == many.recipe
        and all(one.conditions[key] == many.conditions[key] for key in where)
        and one.num_devices == 1 < many.num_devices
    )


def draw_accuracy(runs: list[TrainingRun], path: Path) -> None:
    """Draw a line per run: narrow for several devices, on top of wide ones for one device."""
    labels = labels_of(runs)
    last = max(run.num_epochs for run in runs)
    with style.figure(path, style.WIDTH, 2.8 + 0.2 * (1 + len(runs))) as fig:
        axes = fig.add_subplot(xlabel=say("Epoch"), ylabel=say("Test accuracy (%)"), ylim=(0, 100))
        if any(run.as_the_book for run in runs):
            book = BOOK_ACCURACY[: min(NOTES.num_epochs, last)]
            of_book = range(1, len(book) + 1)
            axes.plot(of_book, book, color=style.FAINT, dashes=(3, 2), label=say("the book's run"))
        for i, run in enumerate(runs):
            one = run.num_devices == 1
            axes.plot(
                range(1, run.num_epochs + 1),
                [100 * accuracy for accuracy in run.column("test_accuracy")],
                color=style.COLOURS[i % len(style.COLOURS)],
                alpha=0.5 if one else 1,
                linewidth=5 if one else 1.5,
                marker=None if one and last > 1 else "o",
                markersize=4,
                zorder=2 if one else 3,
                label=labels[run.name],
            )
        axes.set_xlim(0.8, last + 0.2)
        axes.set_xticks(range(1, last + 1, math.ceil(last / 10)))
        style.key(fig, axes, columns=1)


def draw_record(accuracies: list[float], path: Path) -> None:
    """Draw a run's accuracy after each epoch, and the book's final accuracies."""
    last = len(accuracies)
    with style.figure(path, style.WIDTH, 2.8) as fig:
        axes = fig.add_subplot(xlabel=say("Epoch"), ylabel=say("Test accuracy (%)"), ylim=(60, 100))
        axes.plot(range(1, last + 1), [100 * a for a in accuracies], marker="o", markersize=4)
        for name, accuracy in (
            (say("the book, one GPU"), BOOK_RESNET_ON_ONE),
            (say("the book, two GPUs"), BOOK_RESNET_ON_TWO),
        ):
            axes.axhline(100 * accuracy, color=style.FAINT, dashes=(3, 2))
            axes.annotate(
                f"{name}: {100 * accuracy:.0f}",
                (1, 100 * accuracy),
                xytext=(0, 3),
                textcoords="offset points",
                color=style.FAINT,
            )
        axes.set_xticks(range(1, last + 1))
