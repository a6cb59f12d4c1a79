"""The report's section on convergence (13.5, 13.7): what a larger batch costs in epochs."""

from collections.abc import Mapping
from functools import partial
from itertools import chain
from pathlib import Path

import numpy as np

from lab.core.files import read_json, read_rows
from lab.report import figures
from lab.report.language import say
from lab.report.page import Figure, Section, TryThis
from lab.results.curves import Curve, curves_of
from stages.convergence.measure.names import (
    BY_STEM,
    EPOCHS,
    NETS,
    SHORT_RUN,
    SMALLEST,
    STALENESS,
    STEMS,
    of_net,
)
from stages.convergence.page import runs_section
from stages.convergence.page.runs_section import Curves, draw_median, runs_of

CHANCE = 10  # percent of the test images that a constant answer labels correctly


def section(folder: Path) -> Section:
    """The section on the results in `folder` (reports/convergence)."""
    experiments, m = curves_of(read_rows(folder / "rows.csv")), read_json(folder / "metrics.json")
    lenet, *others = (
        runs_of(net, experiments, m) for net in NETS if of_net(EPOCHS, net) in experiments
    )
    short_runs = _by_age(experiments[SHORT_RUN])
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
            *_stems(experiments),
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
                    smallest=lenet.metric(SMALLEST),
                ),
                [partial(_draw_short_runs, short_runs)],
            ),
        ],
        tables=[runs_section.table(runs) for runs in (lenet, *others)],
        try_this=TryThis(
            "convergence.lenet.lr",
            "0.05",
            say("Does a quarter of the learning rate bring batch 256 closer to batch 64?"),
            say(
                "No: in a trial all took about twice as many epochs, and batch 256 still about"
                " three times as many as batch 64, often more than convergence.lenet.max_epochs"
                " allows."
                " At one learning rate it is mostly the number of steps that counts."
            ),
        ),
    )


def _by_age(runs: Curves) -> dict[int, Curve]:
    """The short runs by how many steps their gradients are old."""
    return {
        int(series.removeprefix(STALENESS)): c
        for series, c in runs.items()
        if series.startswith(STALENESS)
    }


def _short_runs(runs: Mapping[int, Curve]) -> str:
    oldest = max(runs)
    return say(
        "With gradients {steps} steps old {old:.1f} % of the test images are right after equally"
        " many steps, with fresh ones {fresh:.1f} %.",
        steps=oldest,
        old=float(np.median(runs[oldest].y)),
        fresh=float(np.median(runs[0].y)),
    )


def _stems(experiments: Mapping[str, Curves]) -> list[str]:
    """What ResNet-18's stem is worth, where it was trained with both."""
    if BY_STEM not in experiments:
        return []
    small, original = (experiments[BY_STEM][stem].y for stem in STEMS)
    return [
        say(
            "After equally many images ResNet-18 labels {small:.1f} % of the test images right with"
            " the notes' small stem, {original:.1f} % with the original one (medians).",
            small=float(np.median(small)),
            original=float(np.median(original)),
        )
    ]


def _age_in_words(age: int) -> str:
    if age == 0:
        return say("fresh gradients")
    return say("1 step old") if age == 1 else say("{n} steps old", n=age)


def _draw_short_runs(runs: Mapping[int, Curve], path: Path) -> None:
    with figures.figure(path, figures.WIDTH, 0.7 + 0.36 * len(runs)) as fig:
        axes = fig.add_subplot(xlabel=say("test accuracy, %"))
        axes.axvline(CHANCE, color=figures.FAINT, linestyle="--")
        for row, c in enumerate(runs.values()):
            axes.plot(c.y, np.full(len(c.y), row), "o", color=figures.COLOURS[0], alpha=0.6)
            draw_median(axes, float(np.median(c.y)), row, figures.COLOURS[0])
        axes.set_yticks(range(len(runs)), [_age_in_words(age) for age in runs])
        axes.set(xlim=(0, None), ylim=(len(runs) - 0.45, -0.55))
        axes.grid(visible=False, axis="y")
