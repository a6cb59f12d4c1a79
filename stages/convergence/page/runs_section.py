"""What the report says of one net's runs to a target accuracy: sentences, a figure and a table."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from numpy.typing import NDArray

from lab.report import figures
from lab.report.benchmarks import TITLES, devices_in_words
from lab.report.language import say
from lab.report.page import Figure, Table
from lab.results.measurements import Results
from stages.convergence.measure.names import FIXED, LARS, LENET, MOMENTUM, PLAIN, SCALED

Floats = NDArray[np.float64]


def variants() -> dict[str, str]:
    """The ways to train at a batch size, as the page calls them."""
    return {
        FIXED: say("fixed learning rate"),
        SCALED: say("scaled learning rate"),
        MOMENTUM: say("momentum"),
        LARS: "LARS",
    }


@dataclass(frozen=True)
class NetRuns:
    """One net's runs among the stage's results."""

    net: str
    results: Results
    metrics: Mapping[str, Any]

    def metric(self, name: str) -> Any:
        """A metric of the net."""
        return self.metrics[f"{self.net}_{name}"]

    @property
    def name(self) -> str:
        """As people write it."""
        return TITLES[self.net]

    @property
    def failed_percent(self) -> float:
        """Of all runs."""
        return float(self.metric("not_reached_percent") + self.metric("diverged_percent"))

    def values(self, experiment: str, variant: str, batch_size: int) -> Floats:
        """A variant's samples at a batch size: `epochs`, `reached` and `diverged` by seed."""
        found = self.results.one(experiment, variant, net=self.net, batch_size=batch_size)
        if found is None:
            raise KeyError(f"{experiment} of {self.net}: {variant}, batch {batch_size}")
        return np.array(found.values)

    def batch_sizes(self, experiment: str = "epochs") -> dict[str, list[int]]:
        """The batch sizes of each variant of an experiment."""
        found: dict[str, list[int]] = {}
        for m in self.results.measurements:
            if m.experiment == experiment and m.columns["net"] == self.net:
                found.setdefault(m.variant, []).append(int(m.columns["batch_size"]))
        return found

    def median(self, variant: str, batch_size: int) -> tuple[float, bool]:
        """A variant's median epochs, and whether it is at least that: too few seeds got there."""
        epochs = self.values("epochs", variant, batch_size)
        reached = self.values("reached", variant, batch_size)
        if reached.all():
            return float(np.median(epochs)), False
        ordered = np.sort(np.where(reached, epochs, np.inf))
        middle = ordered[len(ordered) // 2]  # of an even number the higher
        return (float(middle), False) if np.isfinite(middle) else (float(epochs.max()), True)

    def in_words(self, variant: str, batch_size: int) -> str:
        """The median epochs of a variant."""
        epochs, more = self.median(variant, batch_size)
        if more:
            return say("more than {epochs:.3g}", epochs=epochs)
        return f"{epochs:.3g}"

    def us_per_image(self, batch_size: int) -> float:
        """The median time of an image in a step."""
        return float(np.median(self.values("us_per_image", PLAIN, batch_size)))


def answer(runs: NetRuns) -> str:
    """The sentence on plain SGD at the smallest batch and at the largest."""
    smallest, largest = runs.metric("smallest_batch"), runs.metric("largest_batch")
    return say(
        "To {target:g} % test accuracy {net} takes {epochs} epochs at batch {smallest}, {fixed} at"
        " {largest}, and {scaled} there with {times:g} times the learning rate.",
        target=runs.metric("target_percent"),
        net=runs.name,
        epochs=runs.in_words(FIXED, smallest),
        smallest=smallest,
        fixed=runs.in_words(FIXED, largest),
        largest=largest,
        scaled=runs.in_words(SCALED, largest),
        times=largest / smallest,
    )


def findings(runs: NetRuns) -> list[str]:
    """What failed, the best learning rates, and the time of an image."""
    return [*_failed(runs), *_optimizers(runs), _times(runs)]


def _failed(runs: NetRuns) -> list[str]:
    """The sentence on runs without the target, if there are any."""
    if not runs.failed_percent:
        return []
    return [
        say(
            "Of {net}'s runs {failed:.0f} % did not get there, {diverged:.0f} % because they"
            " diverged.",
            net=runs.name,
            failed=runs.failed_percent,
            diverged=runs.metric("diverged_percent"),
        )
    ]


def _optimizers(runs: NetRuns) -> list[str]:
    """The sentence on the best learning rates, where they were looked for."""
    if not runs.metric("tuned_batch"):
        return []
    smallest, largest = runs.metric("smallest_batch"), runs.metric("largest_batch")
    return [
        say(
            "At its best learning rate momentum takes {net} there in {small} epochs at batch"
            " {smallest}, in {large} at {largest}; LARS in {lars} at {largest}.",
            net=runs.name,
            small=runs.in_words(MOMENTUM, smallest),
            large=runs.in_words(MOMENTUM, largest),
            lars=runs.in_words(LARS, largest),
            smallest=smallest,
            largest=largest,
        )
    ]


def _times(runs: NetRuns) -> str:
    smallest, largest = runs.metric("smallest_batch"), runs.metric("largest_batch")
    return say(
        "{net} takes {share:.0f} % as long for an image at batch {largest} as at {smallest}: larger"
        " batches pay only if epochs rise by less.",
        net=runs.name,
        share=100 * runs.us_per_image(largest) / runs.us_per_image(smallest),
        largest=largest,
        smallest=smallest,
    )


def figure(runs: NetRuns) -> Figure:
    """Each run's epochs to the target, and its seconds."""
    return Figure(
        "convergence" if runs.net == LENET else f"convergence_{runs.net}",
        say(
            "{net}: epochs and seconds of training until the target accuracy, by batch size.",
            net=runs.name,
        ),
        _caption(runs),
        [partial(_draw_runs, runs, False), partial(_draw_runs, runs, True)],
    )


def _caption(runs: NetRuns) -> str:
    sentences = [
        say(
            "{net}: a dot is a seed, a bar the median. Scaled: the learning rate grows with the"
            " batch, after a warm-up. Runs end after {n:g} epochs at most. Seconds are those of one"
            " device ({devices}).",
            net=runs.name,
            n=runs.metric("max_epochs"),
            devices=devices_in_words(runs.metrics["device_kind"]),
        )
    ]
    if runs.failed_percent:
        sentences.append(say("Crosses: seeds without the target by then."))
    if runs.metric("tuned_batch"):
        sentences.append(
            say("Momentum and LARS have the best learning rate that other seeds found.")
        )
    return " ".join(sentences)


def table(runs: NetRuns) -> Table:
    """Epochs by variant and batch size."""

    def cell(variant: str, n: int) -> str:
        if n not in by_variant[variant]:
            return "–"
        epochs, reached, failed = (
            runs.values(experiment, variant, n) for experiment in ("epochs", "reached", "diverged")
        )
        diverged = int(failed.sum())
        missed = int((1 - reached).sum()) - diverged
        ended = epochs[reached == 1]
        words = [runs.in_words(variant, n)]
        if len(ended):
            words[0] = say(
                "{median} ({low:.3g} to {high:.3g})",
                median=words[0],
                low=ended.min(),
                high=ended.max(),
            )
        words += [say("{n} not reached", n=missed)] if missed else []
        words += [say("{n} diverged", n=diverged)] if diverged else []
        return say("; ").join(words)

    sizes = runs.batch_sizes("us_per_image")[PLAIN]
    by_variant, shown = runs.batch_sizes(), variants()
    rows = [[shown[variant], *(cell(variant, n) for n in sizes)] for variant in by_variant]
    rows.append([say("µs per image"), *(f"{runs.us_per_image(n):.3g}" for n in sizes)])
    return Table(
        [
            say("epochs of {net} to the target", net=runs.name),
            *(say("batch {n}", n=n) for n in sizes),
        ],
        rows,
        say(
            "Medians over seeds, in brackets the range of the seeds that reached the target. Times"
            " are medians over starts, on one device."
        ),
    )


def _draw_runs(runs: NetRuns, in_seconds: bool, path: Path) -> None:
    """Draw each seed's way to the target in a row of its batch size and variant."""
    shown, by_variant = variants(), runs.batch_sizes()
    colours = dict(zip(by_variant, figures.COLOURS, strict=False))
    rows = sorted((n, variant) for variant, by_size in by_variant.items() for n in by_size)
    rows.sort(key=lambda row: (row[0], list(colours).index(row[1])))
    with figures.figure(path, figures.WIDTH, 0.9 + 0.42 * len(rows)) as fig:
        axes = fig.add_subplot()
        for i, (n, variant) in enumerate(rows):
            epoch_s = runs.us_per_image(n) * float(runs.metrics["train_images"]) / 1e6
            _draw_seeds(axes, runs, variant, n, i, epoch_s if in_seconds else 1, colours[variant])
        axes.set_yticks(
            range(len(rows)), [say("batch {n}", n=n) + "\n" + shown[variant] for n, variant in rows]
        )
        axes.set_ylim(len(rows) - 0.45, -0.55)
        axes.set_xlim(left=0)
        axes.grid(visible=False, axis="y")
        target = runs.metric("target_percent")
        axes.set_xlabel(
            say("seconds to {target:g} % test accuracy", target=target)
            if in_seconds
            else say("epochs to {target:g} % test accuracy", target=target)
        )
        if runs.metrics["device_kind"] == "cpu-virtual":
            figures.say_virtual(fig)


def _draw_seeds(
    axes: Axes, runs: NetRuns, variant: str, n: int, row: int, scale: float, colour: str
) -> None:
    """Draw a variant's seeds, crosses for those that did not get there, a bar at their median."""
    epochs = scale * runs.values("epochs", variant, n)
    reached = runs.values("reached", variant, n) == 1
    axes.plot(epochs[reached], np.full(reached.sum(), row), "o", color=colour, alpha=0.6)
    axes.plot(epochs[~reached], np.full((~reached).sum(), row), "x", color=colour, markersize=7)
    median, more = runs.median(variant, n)
    if not more:
        draw_median(axes, scale * median, row, colour)


def draw_median(axes: Axes, value: float, row: int, colour: str) -> None:
    """Draw a bar at the median of a row of dots."""
    axes.plot([value, value], [row - 0.27, row + 0.27], color=colour, linewidth=2.5)
