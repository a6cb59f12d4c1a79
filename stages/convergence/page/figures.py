"""The figures of the page on convergence."""

from functools import partial
from pathlib import Path

import numpy as np

from lab.report import figures as style
from lab.report import plots
from lab.report.benchmarks import TITLES
from lab.report.language import say, translation
from lab.report.page import Figure
from lab.results.documents import read_results
from stages.convergence.measure.names import LENET, RESNET18
from stages.convergence.page.values import NetRuns, short_runs


def figures(folder: Path) -> list[Figure]:
    """The figures of `folder` (reports/convergence)."""
    results = read_results(folder)
    nets = [net for net in (LENET, RESNET18) if f"{net}_target_percent" in results.conditions]
    runs = short_runs(results)
    return [
        *(
            Figure(
                "convergence" if net == LENET else f"convergence_{net}",
                [partial(_draw_runs, NetRuns(net, results))],
            )
            for net in nets
        ),
        Figure(
            "convergence_stale",
            [plots.bars({_age(n): seen for n, seen in runs.items()}, say("Test accuracy (%)"))],
        ),
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
