"""Figures and tables of the page on convergence."""

from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lab.report import figures as style
from lab.report import plots
from lab.report.benchmarks import TITLES
from lab.report.language import say, translation
from lab.report.numbers import number, span
from lab.report.page import Figure
from lab.results.findings import Finding, Findings
from lab.results.measurements import Results
from stages.convergence.findings import batch_sizes, oldest_gradients
from stages.convergence.measure.names import FIXED, LARS, LENET, MOMENTUM, PLAIN, RESNET18, SCALED


@dataclass(frozen=True)
class Epochs:
    """A variant's epochs to the target at a batch size, over seeds.

    Attributes:
        median: of all runs.
        more: whether the true median is larger, since too few runs reached the target.
        reached: median and range of the runs that reached the target, if any.
        missed: number of runs that ran out of epochs.
        diverged: number of runs that diverged.
    """

    median: float
    more: bool
    reached: Finding | None
    missed: int
    diverged: int

    @property
    def text(self) -> str:
        """The median: 0.23, or > 2.0 if too few runs reached the target."""
        return self._more_than + number(self.median)

    @property
    def range(self) -> str:
        """The range of the runs that reached the target: 0.16–0.35."""
        return span(self.reached) if self.reached else "–"

    def steps(self, per_epoch: int) -> str:
        """Return the median in steps, given the steps per epoch."""
        return self._more_than + number(round(self.median * per_epoch))

    @property
    def _more_than(self) -> str:
        return "> " if self.more else ""


@dataclass(frozen=True)
class NetRuns:
    """One net's runs among the stage's results."""

    net: str
    results: Results

    def samples(self, experiment: str, variant: str, batch_size: int) -> NDArray[np.float64]:
        """Return a variant's samples at a batch size: `epochs`, `reached` or `diverged` by seed."""
        found = self.results.one(experiment, variant, net=self.net, batch_size=batch_size)
        if found is None:
            raise KeyError(f"{experiment} of {self.net}: {variant}, batch {batch_size}")
        return np.array(found.values)

    def batch_sizes(self, experiment: str = "epochs") -> dict[str, list[int]]:
        """Return the batch sizes of each variant of an experiment."""
        found: dict[str, list[int]] = {}
        for m in self.results.measurements:
            if m.experiment == experiment and m.columns["net"] == self.net:
                found.setdefault(m.variant, []).append(int(m.columns["batch_size"]))
        return found

    def epochs(self, variant: str, batch_size: int) -> Epochs:
        """Summarise a variant's runs."""
        epochs, reached, diverged = (
            self.samples(experiment, variant, batch_size)
            for experiment in ("epochs", "reached", "diverged")
        )
        ended, failed = epochs[reached == 1], int(diverged.sum())
        ordered = np.sort(np.where(reached, epochs, np.inf))
        middle = float(ordered[len(ordered) // 2])  # the higher of two middle values
        if len(ended) == len(epochs):
            middle = float(np.median(epochs))
        return Epochs(
            min(middle, float(epochs.max())),
            not np.isfinite(middle),
            Finding(float(np.median(ended)), ended.min(), ended.max()) if len(ended) else None,
            len(epochs) - len(ended) - failed,
            failed,
        )

    def table(self) -> dict[str, Any]:
        """Return a summary of each variant's runs by batch size, and the time per image."""
        rows = [
            {"name": variant, "batch_size": n, "epochs": self.epochs(variant, n)}
            for variant, sizes in self.batch_sizes().items()
            for n in sizes
        ]
        times = [
            (n, float(np.median(self.samples("us_per_image", PLAIN, n))))
            for n in self.batch_sizes("us_per_image")[PLAIN]
        ]
        return {"rows": rows, "us_per_image": times}


def values(results: Results, found: Findings) -> dict[str, object]:
    m, lenet = results.conditions, NetRuns(LENET, results)
    small, large = batch_sizes(results)
    devices = large // small if large % small == 0 else large / small
    at_small, at_large = lenet.epochs(FIXED, small), lenet.epochs(FIXED, large)
    bounds = {  # a ratio is a bound if only the smaller batch always reached the target
        name: bool(
            lenet.samples("reached", FIXED, small).all()
            and not lenet.samples("reached", variant, large).all()
        )
        for name, variant in (("fixed", FIXED), ("scaled", SCALED))
    }
    return {
        "seeds": len(lenet.samples("epochs", FIXED, small)),
        "small": small,
        "large": large,
        "devices": devices,
        "at_small": at_small,
        "at_large": at_large,
        "at_least": {name: "≥ " if bound else "" for name, bound in bounds.items()},
        "at_most": {name: "≤ " if bound else "" for name, bound in bounds.items()},
        "steps_small": at_small.steps(m["train_images"] // small),
        "steps_large": at_large.steps(m["train_images"] // large),
        "one_device": found["times"].value * found["image_time"].value,
        "lenet": lenet.table(),
        "tuned": {
            "momentum_small": lenet.epochs(MOMENTUM, m["lenet_smallest_batch"]),
            "momentum": lenet.epochs(MOMENTUM, m["lenet_largest_batch"]),
            "lars": lenet.epochs(LARS, m["lenet_largest_batch"]),
        }
        if m["lenet_tuned_batch"]
        else None,
        "resnet18": NetRuns(RESNET18, results).table() if "resnet18_target_percent" in m else None,
        "oldest": oldest_gradients(results),
    }


def figures(results: Results, found: Findings) -> list[Figure]:
    nets = [net for net in (LENET, RESNET18) if f"{net}_target_percent" in results.conditions]
    stale = {
        _age(int(m.columns["staleness"])): m.values
        for m in results.measurements
        if m.experiment == "short_run"
    }
    return [
        *(
            Figure(
                "convergence" if net == LENET else f"convergence_{net}",
                [partial(_draw_runs, NetRuns(net, results))],
            )
            for net in nets
        ),
        Figure("convergence_stale", [plots.bars(stale, say("Test accuracy (%)"))]),
    ]


def _age(steps: int) -> str:
    if steps == 0:
        return say("fresh gradients")
    return say("1 step old") if steps == 1 else say("{n} steps old", n=steps)


def _draw_runs(runs: NetRuns, path: Path) -> None:
    """Draw each seed's epochs to the target in a row of its batch size and variant."""
    by_variant = runs.batch_sizes()
    colours = dict(zip(by_variant, style.COLOURS, strict=False))
    rows = sorted((n, i, name) for i, name in enumerate(by_variant) for n in by_variant[name])
    with style.figure(path, style.WIDTH, 0.9 + 0.42 * len(rows)) as fig:
        axes = fig.add_subplot()
        for row, (n, _, variant) in enumerate(rows):
            epochs = runs.samples("epochs", variant, n)
            reached = runs.samples("reached", variant, n) == 1
            for marker, shown in (("o", epochs[reached]), ("x", epochs[~reached])):
                at = np.full(len(shown), row)
                axes.plot(shown, at, marker, color=colours[variant], alpha=0.6)
            found = runs.epochs(variant, n)
            if not found.more:
                ends = [row - 0.27, row + 0.27]
                axes.plot([found.median] * 2, ends, color=colours[variant], linewidth=2.5)
        plots.name_rows(
            axes, [say("batch {n}", n=n) + "\n" + translation(variant) for n, _, variant in rows]
        )
        axes.set_xlim(left=0)
        axes.set_xlabel(
            say(
                "Epochs of {net} to {target:g}% test accuracy",
                net=TITLES[runs.net],
                target=runs.results.conditions[f"{runs.net}_target_percent"],
            )
        )
