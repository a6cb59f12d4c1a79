"""The report's section on convergence (13.5, 13.7): what a larger batch costs in epochs."""

from functools import partial
from itertools import chain
from pathlib import Path

import numpy as np

from lab.core.files import read_json, read_rows
from lab.report import figures
from lab.report.language import say
from lab.report.page import Figure, Section, TryThis
from lab.results.curves import curves_of
from stages.convergence.measure.names import EPOCHS, FEW_IMAGES, NETS, SHORT_RUN, SMALLEST, of_net
from stages.convergence.page import runs_section
from stages.convergence.page.runs_section import Curves, draw_median, runs_of

CHANCE = 10  # percent of the test images that a constant answer labels correctly


def section(folder: Path) -> Section:
    """The section on the results in `folder` (reports/convergence)."""
    demos, m = curves_of(read_rows(folder / "rows.csv")), read_json(folder / "metrics.json")
    lenet, *others = (runs_of(net, demos, m) for net in NETS if of_net(EPOCHS, net) in demos)
    short_runs = demos[SHORT_RUN]
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
            *_short_runs(short_runs),
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


def _short_runs(runs: Curves) -> list[str]:
    aged = [series for series in runs if series != FEW_IMAGES]
    fresh, few, old = (float(np.median(runs[name].y)) for name in (aged[0], FEW_IMAGES, aged[-1]))
    return [
        say(
            "With gradients {steps} steps old {old:.1f} % of the test images are right after"
            " equally many steps, with fresh ones {fresh:.1f} %.",
            steps=_age(aged[-1]),
            old=old,
            fresh=fresh,
        ),
        say("Trained as long on a sixteenth of the images LeNet gets {few:.1f} % right.", few=few),
    ]


def _age(series: str) -> int:
    """How many steps the gradients of a short run are old."""
    return int(series.rpartition(" ")[2])


def _short_run_in_words(series: str) -> str:
    if series == FEW_IMAGES:
        return say("1/16 of the images")
    age = _age(series)
    if age == 0:
        return say("fresh gradients")
    return say("1 step old") if age == 1 else say("{n} steps old", n=age)


def _draw_short_runs(runs: Curves, path: Path) -> None:
    with figures.figure(path, figures.WIDTH, 0.7 + 0.36 * len(runs)) as fig:
        axes = fig.add_subplot(xlabel=say("test accuracy, %"))
        axes.axvline(CHANCE, color=figures.FAINT, linestyle="--")
        for row, c in enumerate(runs.values()):
            colour = figures.COLOURS[1 if c.series == FEW_IMAGES else 0]
            axes.plot(c.y, np.full(len(c.y), row), "o", color=colour, alpha=0.6)
            draw_median(axes, float(np.median(c.y)), row, colour)
        axes.set_yticks(range(len(runs)), [_short_run_in_words(series) for series in runs])
        axes.set(xlim=(0, None), ylim=(len(runs) - 0.45, -0.55))
        axes.grid(visible=False, axis="y")
