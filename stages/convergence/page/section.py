"""The report's section on convergence (13.5, 13.7): what a larger batch costs in epochs."""

from collections.abc import Mapping, Sequence
from functools import partial
from itertools import chain
from pathlib import Path
from statistics import median

import numpy as np

from lab.report import benchmarks, figures
from lab.report.language import say
from lab.report.page import Figure, Section, TryThis
from lab.results.measurements import Results
from stages.convergence.measure.names import STEMS
from stages.convergence.page import runs_section
from stages.convergence.page.runs_section import NetRuns, draw_median

CHANCE = 10  # percent of the test images that a constant answer labels correctly


def section(folder: Path) -> Section:
    """The section on the results in `folder` (reports/convergence)."""
    results, m = benchmarks.read(folder)
    trained = [each.columns["net"] for each in results.measurements if each.experiment == "epochs"]
    lenet, *others = (NetRuns(str(net), results, m) for net in dict.fromkeys(trained))
    short_runs = _by_age(results)
    return Section(
        stage="convergence",
        title=say("Convergence: what a larger batch costs"),
        book="13.5, 13.7",
        question=say(
            "How many epochs does the same accuracy take at a larger batch, and does a larger"
            " learning rate help?"
        ),
        answer=runs_section.answer(lenet),
        findings=[
            *runs_section.findings(lenet),
            *chain.from_iterable(
                [runs_section.answer(runs), *runs_section.findings(runs)] for runs in others
            ),
            _short_runs(short_runs),
            *_stems(results),
        ],
        figures=[
            *(runs_section.figure(runs) for runs in (lenet, *others)),
            Figure(
                "convergence_stale",
                say("Test accuracy after equally many images, by the age of the gradients."),
                say(
                    "A dot is a seed, a bar the median; all runs see equally many images in batches"
                    " of {smallest}. A gradient that is 3 steps old was computed on the weights"
                    " before the last 3 updates. Dashed: a constant answer.",
                    smallest=lenet.metric("smallest_batch"),
                ),
                [partial(_draw_short_runs, short_runs)],
            ),
        ],
        tables=[runs_section.table(runs) for runs in (lenet, *others)],
        try_this=TryThis(
            "convergence.lenet.lr",
            "0.025",
            say("Does a quarter of the learning rate bring batch 256 closer to batch 64?"),
            say(
                "No: in a trial both took up to twice as many epochs, and batch 256 still about"
                " three times as many as batch 64. At one learning rate it is mostly the number of"
                " steps that counts."
            ),
        ),
    )


def _by_age(results: Results) -> dict[int, Sequence[float]]:
    """The short runs' accuracies by how many steps their gradients are old."""
    return {
        int(m.columns["staleness"]): m.values
        for m in results.measurements
        if m.experiment == "short_run"
    }


def _short_runs(runs: Mapping[int, Sequence[float]]) -> str:
    oldest = max(runs)
    return say(
        "With gradients {steps} steps old {old:.1f} % of the test images are right after equally"
        " many steps, with fresh ones {fresh:.1f} %.",
        steps=oldest,
        old=median(runs[oldest]),
        fresh=median(runs[0]),
    )


def _stems(results: Results) -> list[str]:
    """What ResNet-18's stem is worth, where it was trained with both."""
    small, original = (results.one("by_stem", stem) for stem in STEMS)
    if not small or not original:
        return []
    return [
        say(
            "After equally many images ResNet-18 labels {small:.1f} % of the test images right with"
            " the notes' small stem, {original:.1f} % with the original one (medians).",
            small=median(small.values),
            original=median(original.values),
        )
    ]


def _age_in_words(age: int) -> str:
    if age == 0:
        return say("fresh gradients")
    return say("1 step old") if age == 1 else say("{n} steps old", n=age)


def _draw_short_runs(runs: Mapping[int, Sequence[float]], path: Path) -> None:
    with figures.figure(path, figures.WIDTH, 0.7 + 0.36 * len(runs)) as fig:
        axes = fig.add_subplot(xlabel=say("test accuracy, %"))
        axes.axvline(CHANCE, color=figures.FAINT, linestyle="--")
        for row, percent in enumerate(runs.values()):
            axes.plot(percent, np.full(len(percent), row), "o", color=figures.COLOURS[0], alpha=0.6)
            draw_median(axes, median(percent), row, figures.COLOURS[0])
        axes.set_yticks(range(len(runs)), [_age_in_words(age) for age in runs])
        axes.set(xlim=(0, None), ylim=(len(runs) - 0.45, -0.55))
        axes.grid(visible=False, axis="y")
