"""What the report says of one net's runs to a target accuracy: sentences, a figure and a table."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.axes import Axes

from lab.report import figures
from lab.report.benchmarks import TITLES, devices_in_words
from lab.report.language import say
from lab.report.page import Figure, Table
from lab.results.curves import Curve
from stages.convergence.measure.names import (
    DIVERGED_PERCENT,
    EPOCHS,
    FIXED,
    LARGEST,
    LARS,
    LENET,
    MAX_EPOCHS,
    MOMENTUM,
    NOT_REACHED_PERCENT,
    REACHED,
    ROOT,
    SCALED,
    SMALLEST,
    TARGET_PERCENT,
    TRAIN_IMAGES,
    TUNED_BATCH,
    US_PER_IMAGE,
    at_batch,
    batch,
    of_net,
)

Curves = Mapping[str, Curve]  # by series


def variants() -> dict[str, str]:
    """The ways to train at a batch size, as the page calls them."""
    return {
        FIXED: say("fixed learning rate"),
        SCALED: say("scaled learning rate"),
        ROOT: say("rate × √batch"),
        MOMENTUM: say("momentum"),
        LARS: "LARS",
    }


@dataclass(frozen=True)
class NetRuns:
    """One net's runs: epochs to the target, who reached it, times of an image, and the metrics."""

    net: str
    epochs: Curves
    reached: Curves
    times: Curves
    metrics: Mapping[str, Any]

    def metric(self, name: str) -> Any:
        """A metric of the net."""
        return self.metrics[of_net(name, self.net)]

    @property
    def name(self) -> str:
        """As people write it."""
        return TITLES[self.net]

    @property
    def failed_percent(self) -> float:
        """Of all runs."""
        return float(self.metric(NOT_REACHED_PERCENT) + self.metric(DIVERGED_PERCENT))

    def variants(self) -> dict[str, dict[int, str]]:
        """The series of each variant by batch size."""
        found: dict[str, dict[int, str]] = {}
        for series in self.epochs:
            variant, _, size = series.rpartition(", batch ")
            found.setdefault(variant, {})[int(size)] = series
        return found

    def median(self, series: str) -> tuple[float, bool]:
        """A series' median epochs, and whether it is at least that: too few seeds got there."""
        epochs, reached = self.epochs[series].y, self.reached[series].y
        if reached.all():
            return float(np.median(epochs)), False
        ordered = np.sort(np.where(reached, epochs, np.inf))
        middle = ordered[len(ordered) // 2]  # of an even number the higher
        return (float(middle), False) if np.isfinite(middle) else (float(epochs.max()), True)

    def in_words(self, series: str) -> str:
        """The median epochs of a series."""
        epochs, more = self.median(series)
        if more:
            return say("more than {epochs:.3g}", epochs=epochs)
        return f"{epochs:.3g}"

    def us_per_image(self, batch_size: int) -> float:
        """The median time of an image in a step."""
        return float(np.median(self.times[batch(batch_size)].y))


def runs_of(net: str, experiments: Mapping[str, Curves], metrics: Mapping[str, Any]) -> NetRuns:
    """The runs of a net among all curves and metrics of the stage."""
    epochs, reached, times = (
        experiments[of_net(experiment, net)] for experiment in (EPOCHS, REACHED, US_PER_IMAGE)
    )
    return NetRuns(net, epochs, reached, times, metrics)


def answer(runs: NetRuns) -> str:
    """The sentence on plain SGD at the smallest batch and at the largest."""
    smallest, largest = runs.metric(SMALLEST), runs.metric(LARGEST)
    return say(
        "To {target:g} % test accuracy {net} takes {epochs} epochs at batch {smallest}, {fixed} at"
        " {largest}, and {scaled} there with {times:g} times the learning rate.",
        target=runs.metric(TARGET_PERCENT),
        net=runs.name,
        epochs=runs.in_words(at_batch(FIXED, smallest)),
        smallest=smallest,
        fixed=runs.in_words(at_batch(FIXED, largest)),
        largest=largest,
        scaled=runs.in_words(at_batch(SCALED, largest)),
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
            diverged=runs.metric(DIVERGED_PERCENT),
        )
    ]


def _optimizers(runs: NetRuns) -> list[str]:
    """The sentence on the best learning rates, where they were looked for."""
    if not runs.metric(TUNED_BATCH):
        return []
    smallest, largest = runs.metric(SMALLEST), runs.metric(LARGEST)
    return [
        say(
            "At its best learning rate momentum takes {net} there in {small} epochs at batch"
            " {smallest}, in {large} at {largest}; LARS in {lars} at {largest}.",
            net=runs.name,
            small=runs.in_words(at_batch(MOMENTUM, smallest)),
            large=runs.in_words(at_batch(MOMENTUM, largest)),
            lars=runs.in_words(at_batch(LARS, largest)),
            smallest=smallest,
            largest=largest,
        )
    ]


def _times(runs: NetRuns) -> str:
    smallest, largest = runs.metric(SMALLEST), runs.metric(LARGEST)
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
            " batch, or with its square root, after a warm-up. Runs end after {n:g} epochs at most."
            " Seconds are those of one device ({devices}).",
            net=runs.name,
            n=runs.metric(MAX_EPOCHS),
            devices=devices_in_words(runs.metrics["device_kind"]),
        )
    ]
    if runs.failed_percent:
        sentences.append(say("Crosses: seeds without the target by then."))
    if runs.metric(TUNED_BATCH):
        sentences.append(
            say("Momentum and LARS have the best learning rate that other seeds found.")
        )
    return " ".join(sentences)


def table(runs: NetRuns) -> Table:
    """Epochs by variant and batch size."""

    def cell(series: str | None) -> str:
        if series is None:
            return "–"
        epochs, reached = runs.epochs[series].y, runs.reached[series].y
        diverged = int(runs.epochs[series].diverged.sum())
        missed = int((1 - reached).sum()) - diverged
        ended = epochs[reached == 1]
        words = [runs.in_words(series)]
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

    sizes = [int(series.rpartition(" ")[2]) for series in runs.times]
    by_variant, shown = runs.variants(), variants()
    rows = [
        [shown[variant], *(cell(by_variant[variant].get(n)) for n in sizes)]
        for variant in by_variant
    ]
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
    shown, by_variant = variants(), runs.variants()
    colours = dict(zip(by_variant, figures.COLOURS, strict=False))
    rows = sorted((n, variant) for variant, by_size in by_variant.items() for n in by_size)
    rows.sort(key=lambda row: (row[0], list(colours).index(row[1])))
    with figures.figure(path, figures.WIDTH, 0.9 + 0.42 * len(rows)) as fig:
        axes = fig.add_subplot()
        for i, (n, variant) in enumerate(rows):
            epoch_s = runs.us_per_image(n) * float(runs.metrics[TRAIN_IMAGES]) / 1e6
            _draw_seeds(
                axes, runs, at_batch(variant, n), i, epoch_s if in_seconds else 1, colours[variant]
            )
        axes.set_yticks(
            range(len(rows)), [say("batch {n}", n=n) + "\n" + shown[variant] for n, variant in rows]
        )
        axes.set_ylim(len(rows) - 0.45, -0.55)
        axes.set_xlim(left=0)
        axes.grid(visible=False, axis="y")
        target = runs.metric(TARGET_PERCENT)
        axes.set_xlabel(
            say("seconds to {target:g} % test accuracy", target=target)
            if in_seconds
            else say("epochs to {target:g} % test accuracy", target=target)
        )
        if runs.metrics["device_kind"] == "cpu-virtual":
            figures.say_virtual(fig)


def _draw_seeds(
    axes: Axes, runs: NetRuns, series: str, row: int, scale: float, colour: str
) -> None:
    """Draw a series' seeds, crosses for those that did not get there, and a bar at their median."""
    epochs, reached = scale * runs.epochs[series].y, runs.reached[series].y == 1
    axes.plot(epochs[reached], np.full(reached.sum(), row), "o", color=colour, alpha=0.6)
    axes.plot(epochs[~reached], np.full((~reached).sum(), row), "x", color=colour, markersize=7)
    median, more = runs.median(series)
    if not more:
        draw_median(axes, scale * median, row, colour)


def draw_median(axes: Axes, value: float, row: int, colour: str) -> None:
    """Draw a bar at the median of a row of dots."""
    axes.plot([value, value], [row - 0.27, row + 0.27], color=colour, linewidth=2.5)
