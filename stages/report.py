"""What did all the stages find? One self-contained page, a summary for a code host, and the figures.

Draws from the files that the other stages wrote and measures nothing, so it takes seconds, needs no torch, and
gives the same bytes for the same results.

Read `reports/index.html` (a browser, no network) or `reports/README.md` (a code host).
"""

import math
import re
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from jinja2 import Environment, FileSystemLoader, StrictUndefined, select_autoescape
from markupsafe import Markup
from matplotlib.axes import Axes

from lab import figures
from lab.data import CLASSES, Split, read_fashion_mnist, read_source
from lab.download import FASHION_FILES
from lab.params import PARAMS_FILE, read_yaml
from lab.records import HARDWARE_FILE, REPORTS, read_json, read_rows, write_atomically
from lab.runner import run
from lab.stats import summarise

TEMPLATES = Path(__file__).parent / "templates"
FIGURES = REPORTS / "figures"

# LeNet in section 13.5: what the book prints for one and two GPUs (accuracy in percent, seconds per epoch; its
# executed notebooks of 2023, GPUs not named) and draws for one (read off its figure).
BOOK_SETTINGS = {"net": "lenet", "dataset": "fashion-mnist", "train_images": 60_000, "batch_size": 256, "lr": 0.2,
                 "num_epochs": 10}  # fmt: skip
BOOK_RUNS = {1: (83, 3.0), 2: (84, 2.8)}
BOOK_LENET_1GPU_ACCURACY = (10.0, 61.1, 72.7, 72.9, 78.1, 82.3, 81.0, 76.8, 81.0, 82.7)

DEVICE_WORDS = {"cuda": "GPU", "cuda-shared": "replica on a shared GPU", "cpu-virtual": "virtual CPU"}


@dataclass(frozen=True)
class TrainingRun:
    """One run of the train stage: its name, metrics and rows (one per epoch)."""

    name: str
    metrics: Mapping[str, Any]
    rows: Sequence[Mapping[str, Any]]

    def column(self, key: str) -> list[float]:
        """Return one value per epoch."""
        return [float(row[key]) for row in self.rows]

    @property
    def devices(self) -> str:
        """Say in words what it ran on."""
        kind, threads = str(self.metrics["device_kind"]), int(self.metrics["threads_per_device"])
        share = f" of {threads} thread{'s' if threads > 1 else ''}" if kind == "cpu-virtual" else ""
        return f"{self.metrics['num_devices']:.0f} × {DEVICE_WORDS[kind]}{share}"

    @property
    def book(self) -> tuple[int, float] | None:
        """Accuracy in percent and seconds per epoch that the book prints for this very run, if it does."""
        settings = tuple(self.metrics[key] for key in BOOK_SETTINGS)
        return (
            BOOK_RUNS.get(int(self.metrics["num_devices"])) if settings == tuple(BOOK_SETTINGS.values()) else None
        )

    @property
    def noisy(self) -> bool:
        """Whether the seconds per epoch spread over more than a tenth of their median."""
        return summarise(self.column("seconds")).noisy


# --- sentences --------------------------------------------------------------------------------------------------


def findings(runs: Sequence[TrainingRun]) -> list[str]:
    """Return what the runs show: where each ended, and how each pair that differs in devices only compares."""
    sentences = [
        f"{r.name} ends at {r.metrics['test_accuracy_percent']:.1f} % test accuracy after {len(r.rows)} epochs"
        + (f"; the book prints {r.book[0]} %." if r.book else ".")
        for r in runs
    ]
    sentences += [
        f"{r.name} is still at chance after its first epoch: weights of 0.01 times a standard normal make signals "
        "and gradients tiny until the layers have grown."
        for r in runs[:1]
        if r.column("test_accuracy")[0] < 0.12
    ]
    return sentences + [_compare(one, many) for one in runs for many in runs if _differ_in_devices_only(one, many)]


def _differ_in_devices_only(one: TrainingRun, many: TrainingRun) -> bool:
    same = ("net", "dataset", "train_images", "batch_size", "lr", "num_epochs", "device_kind", "threads_per_device")
    return all(one.metrics[k] == many.metrics[k] for k in same) and (
        one.metrics["num_devices"] == 1 < many.metrics["num_devices"]
    )


def _compare(one: TrainingRun, many: TrainingRun) -> str:
    gap = max(abs(a - b) for a, b in zip(one.column("test_accuracy"), many.column("test_accuracy"), strict=True))
    return (
        f"{many.name} took {many.metrics['epoch_s']:.1f} s per epoch on {many.devices}, {one.name} "
        f"{one.metrics['epoch_s']:.1f} s on {one.devices}, one run after the other: no speed-up is claimed from "
        "times that were not taken side by side. Their test accuracies differ by at most "
        f"{100 * gap:.1f} points at any epoch: both add the same gradients, in another order, and rounding grows "
        "over thousands of steps."
    )


# --- figures ----------------------------------------------------------------------------------------------------


def draw_samples(split: Split, path: Path, per_class: int = 14) -> None:
    """Draw the first images of each class, one class a row."""
    rows = [np.hstack(split.images[split.labels == label][:per_class]) for label in range(len(CLASSES))]
    with figures.figure(path, 8, 5.6) as fig:
        axes = fig.add_subplot()
        axes.imshow(255 - np.vstack(rows), cmap="gray", vmin=0, vmax=255, interpolation="none")
        axes.set_yticks([28 * label + 14 for label in range(len(CLASSES))], CLASSES)
        axes.set_xticks([])
        axes.tick_params(length=0)
        axes.grid(visible=False)
        axes.spines[:].set_visible(False)


def draw_training_curves(runs: Sequence[TrainingRun], path: Path) -> None:
    """Draw test accuracy and training loss against epochs, the book's own curve behind where it is the same run."""
    with figures.figure(path, 9, 3.8) as fig:
        accuracy, loss = fig.subplots(1, 2)
        accuracy.set(title="Test accuracy (%)", xlabel="epoch", ylim=(0, 100))
        highest = max(max(r.column("train_loss")) for r in runs)
        loss.set(title="Training loss (cross-entropy per image)", xlabel="epoch", ylim=(0, 1.1 * highest))
        if any(r.book for r in runs):
            epochs = range(1, len(BOOK_LENET_1GPU_ACCURACY) + 1)
            accuracy.plot(epochs, BOOK_LENET_1GPU_ACCURACY, color=figures.FAINT, dashes=(3, 2))
            accuracy.annotate("the book's run", (4, 72.9), (4.2, 58), color=figures.FAINT)
        _draw_lines(accuracy, runs, [[100 * v for v in r.column("test_accuracy")] for r in runs])
        _draw_lines(loss, runs, [r.column("train_loss") for r in runs])


def _draw_lines(axes: Axes, runs: Sequence[TrainingRun], curves: Sequence[list[float]]) -> None:
    """Draw a line per run, later ones thinner so that equal curves both show, each named at its end."""
    for i, (run_, curve) in enumerate(zip(runs, curves, strict=True)):
        colour = figures.COLOURS[i % len(figures.COLOURS)]
        epochs = run_.column("epoch")
        axes.plot(
            epochs, curve, color=colour, linewidth=max(1.5, 5 - 3 * i), marker="o", markersize=max(3, 7 - 3 * i)
        )
    last = max(r.column("epoch")[-1] for r in runs)
    axes.set_xlim(0.8, last * 1.42)
    axes.set_xticks(range(1, int(last) + 1, math.ceil(last / 10)))
    low, high = axes.get_ylim()
    heights = figures.spread_labels([curve[-1] for curve in curves], 0.07 * (high - low), high)
    for i, height in enumerate(heights):
        axes.text(last * 1.06, height, runs[i].name, color=figures.COLOURS[i % len(figures.COLOURS)], va="center")


def draw_epoch_time(runs: Sequence[TrainingRun], path: Path) -> None:
    """Draw each epoch's seconds as a dot over the run's median as a bar, hatched on virtual devices."""
    with figures.figure(path, 9, 1.1 + 0.62 * len(runs)) as fig:
        axes = fig.add_subplot()
        longest = max(max(r.column("seconds")) for r in runs)
        for i, run_ in enumerate(runs):
            seconds = run_.column("seconds")
            median = summarise(seconds).median
            colour = figures.COLOURS[i % len(figures.COLOURS)]
            hatch = figures.VIRTUAL_HATCH if run_.metrics["device_kind"] == "cpu-virtual" else None
            axes.barh(i, median, height=0.6, facecolor="none", edgecolor=colour, hatch=hatch)
            axes.plot(seconds, np.linspace(i + 0.2, i - 0.2, len(seconds)), "o", color=figures.INK, markersize=3)
            speed = f"{median:.3g} s, {run_.metrics['images_per_s']:,.0f} images/s"
            axes.annotate(speed, (max(seconds), i), (8, 0), textcoords="offset points", va="center")
        axes.set_yticks(range(len(runs)), [f"{r.name}\n{r.devices}" for r in runs])
        axes.set(xlabel="seconds of training per epoch (dots: epochs, bar: median)", xlim=(0, longest * 1.45))
        axes.invert_yaxis()
        axes.grid(visible=False, axis="y")


# --- pages ------------------------------------------------------------------------------------------------------


def inline(path: Path, alt: str) -> Markup:
    """Return an SVG file for the page: one element with a spoken name, in the page's own ink and paper."""
    svg = path.read_text(encoding="utf-8")
    svg = svg[svg.index("<svg") :].replace(figures.INK, "currentColor")
    svg = re.sub(rf"fill: {figures.PAPER}(?=[;\"])", "fill: none", svg)
    name = Markup.escape(alt)
    return Markup(svg.replace("<svg", f'<svg role="img" aria-label="{name}"', 1))  # noqa: S704  (our own figure)


def machine_in_words(facts: Mapping[str, Any]) -> str:
    """Return the hardware in one line."""
    cpu, accelerator, software = facts["cpu"], facts["accelerator"], facts["software"]
    processor = f"{cpu['model']} ({cpu['instructions']}), {cpu['usable_cores']} usable cores, {cpu['ram_gib']} GiB"
    gpus = ", ".join(accelerator["names"] or []) or "no GPU"
    packages = ", ".join(f"{name} {software[name]}" for name in ("torch", "torchvision"))
    return f"{processor}; {gpus}; {software['os']}, Python {software['python']}, {packages}"


def read_runs(folder: Path = REPORTS / "train") -> list[TrainingRun]:
    """Return the runs that params.yaml names, in its order."""
    names = read_yaml(PARAMS_FILE)["train"]["runs"]
    return [
        TrainingRun(n, read_json(folder / n / "metrics.json"), read_rows(folder / n / "rows.csv")) for n in names
    ]


def main() -> None:
    """Draw the figures and write both pages."""
    runs, source = read_runs(), read_source()
    draw_samples(read_fashion_mnist("train"), FIGURES / "samples.svg")
    draw_training_curves(runs, FIGURES / "training_curves.svg")
    draw_epoch_time(runs, FIGURES / "epoch_time.svg")
    content = {
        "machine": machine_in_words(read_json(HARDWARE_FILE)),
        "source": source,
        "synthetic": [name for name, origin in source.items() if origin == "synthetic"],
        "files": FASHION_FILES,
        "runs": runs,
        "findings": findings(runs),
        "virtual": any(r.metrics["device_kind"] == "cpu-virtual" for r in runs),
        "figures": FIGURES,
        "inline": inline,
    }
    templates = Environment(
        loader=FileSystemLoader(TEMPLATES), undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True,
        autoescape=select_autoescape(["html.j2"]), keep_trailing_newline=True,
    )  # fmt: skip
    for page in ("index.html", "README.md"):
        text = templates.get_template(f"{page}.j2").render(content)
        write_atomically(REPORTS / page, text.encode())


if __name__ == "__main__":
    sys.exit(run(main))
