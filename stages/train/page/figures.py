"""The figure of the page on training on several devices: curves that should lie on each other."""

import math
from functools import partial
from pathlib import Path

from lab.report import figures as style
from lab.report.language import say
from lab.report.page import Figure
from lab.training.run_params import NOTES
from stages.train.measure.names import TEST_ACCURACY
from stages.train.page.values import TrainingRun, compared, labels_of, runs_of

# LeNet on one GPU in section 13.5, read off its figure (percent; GPU not named, no fixed seed)
BOOK_ACCURACY = (10.0, 61.1, 72.7, 72.9, 78.1, 82.3, 81.0, 76.8, 81.0, 82.7)


def figures(folder: Path) -> list[Figure]:
    """The figures of `folder` (reports/train)."""
    return [Figure("training_curves", [partial(draw_accuracy, compared(runs_of(folder)))])]


def draw_accuracy(runs: list[TrainingRun], path: Path) -> None:
    """Draw a line per run, narrow ones of several devices over the wide ones of one device."""
    labels = labels_of(runs)
    last = max(len(run.rows) for run in runs)
    with style.figure(path, style.WIDTH, 2.8 + 0.2 * (1 + len(runs))) as fig:
        axes = fig.add_subplot(xlabel=say("Epoch"), ylabel=say("Test accuracy (%)"), ylim=(0, 100))
        if any(run.as_the_book for run in runs):
            book = BOOK_ACCURACY[: min(NOTES.num_epochs, last)]
            of_book = range(1, len(book) + 1)
            axes.plot(of_book, book, color=style.FAINT, dashes=(3, 2), label=say("the book's run"))
        for i, run in enumerate(runs):
            one = run.num_devices == 1
            axes.plot(
                run.column("epoch"),
                [100 * accuracy for accuracy in run.column(TEST_ACCURACY)],
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
