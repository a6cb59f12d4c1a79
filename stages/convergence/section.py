"""The report's section on convergence (13.5, 13.7): what a larger batch costs in epochs."""

from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.axes import Axes

from lab.core.files import read_json, read_rows
from lab.report import figures
from lab.report.benchmarks import devices_in_words
from lab.report.language import say
from lab.report.page import Figure, Section, Table, TryThis
from lab.results.curves import Curve, curves_of
from stages.convergence.names import (
    DIVERGED_PERCENT,
    EPOCHS,
    FEW_IMAGES,
    FIXED,
    LARGEST,
    LARS,
    MAX_EPOCHS,
    MOMENTUM,
    NOT_REACHED_PERCENT,
    NOTES_US_PER_IMAGE,
    REACHED,
    RULES,
    SHORT_RUN,
    SMALLEST,
    TARGET_PERCENT,
    TRAIN_IMAGES,
    TUNED_BATCH,
    US_PER_IMAGE,
    at_batch,
)

Demos = dict[str, dict[str, Curve]]


def section(folder: Path) -> Section:
    """The section on the results in `folder` (reports/convergence)."""
    demos, m = curves_of(read_rows(folder / "rows.csv")), read_json(folder / "metrics.json")
    return Section(
        stage="convergence",
        title=say("Convergence: what a larger batch costs"),
        book="13.5, 13.7",
        question=say(
            "How many epochs does the same accuracy take at a larger batch, and does a"
            " larger rate help?"
        ),
        findings=[_penalties(demos, m), *_optimizers(demos, m), _stale(demos), _times(demos)],
        figures=[
            Figure(
                "convergence",
                say("Epochs until the target accuracy by batch size, and accuracy by staleness."),
                say(
                    "Left: dots are seeds, lines their medians; a cross is a seed that did not"
                    " reach the target within the budget of {budget:g} epochs: it needs more, how"
                    " many is not known. Middle: the same in seconds of one device, on {devices}."
                    " Right: dots are seeds after equally many images.",
                    budget=m[MAX_EPOCHS],
                    devices=devices_in_words(m["device_kind"]),
                ),
                partial(_draw, demos, m),
            )
        ],
        tables=[_table(demos)],
        try_this=TryThis("convergence.lr", "0.05", say("see whether a lower rate bears more")),
    )


def _arms(demos: Demos) -> dict[str, dict[int, str]]:
    """The series of each arm by batch size."""
    found: dict[str, dict[int, str]] = {}
    for series in demos[EPOCHS]:
        arm, _, size = series.rpartition(", batch ")
        found.setdefault(arm, {})[int(size)] = series
    return found


def _epochs(demos: Demos, series: str) -> tuple[float, bool]:
    """The median epochs of a series, and whether it is at least that: too few seeds got there."""
    epochs, reached = demos[EPOCHS][series].y, demos[REACHED][series].y
    if reached.all():
        return float(np.median(epochs)), False
    ordered = np.sort(np.where(reached, epochs, np.inf))
    middle = ordered[len(ordered) // 2]  # of an even number the higher
    return (float(middle), False) if np.isfinite(middle) else (float(epochs.max()), True)


def _in_words(demos: Demos, series: str) -> str:
    epochs, more = _epochs(demos, series)
    if more:
        return say("more than {epochs:.3g}", epochs=epochs)
    return f"{epochs:.3g}"


def _penalties(demos: Demos, m: dict[str, Any]) -> str:
    smallest, largest = m[SMALLEST], m[LARGEST]
    costs = [
        say("{epochs} with {rule}", epochs=_in_words(demos, at_batch(rule, largest)), rule=rule)
        for rule in RULES
    ]
    failed = m[NOT_REACHED_PERCENT] + m[DIVERGED_PERCENT]
    return say(
        "Until {target:g} % of the test images are right it takes {epochs} epochs at {smallest}"
        " images per batch; at {largest}: {costs} (medians over seeds). Of all runs {failed:.0f} %"
        " did not get there, {diverged:.0f} % because they diverged.",
        target=m[TARGET_PERCENT],
        epochs=_in_words(demos, at_batch(FIXED, smallest)),
        smallest=smallest,
        largest=largest,
        costs=", ".join(costs),
        failed=failed,
        diverged=m[DIVERGED_PERCENT],
    )


def _optimizers(demos: Demos, m: dict[str, Any]) -> list[str]:
    """The sentence on the best rates, where they were looked for."""
    if not m[TUNED_BATCH]:
        return []
    return [
        say(
            "Each at the best rate that other seeds found, SGD with momentum takes {small} epochs"
            " at {smallest} images and {large} at {largest}; LARS takes {lars} there.",
            small=_in_words(demos, at_batch(MOMENTUM, m[SMALLEST])),
            large=_in_words(demos, at_batch(MOMENTUM, m[LARGEST])),
            lars=_in_words(demos, at_batch(LARS, m[LARGEST])),
            smallest=m[SMALLEST],
            largest=m[LARGEST],
        )
    ]


def _stale(demos: Demos) -> str:
    fresh, *others = [c for name, c in demos[SHORT_RUN].items() if name != FEW_IMAGES]
    few = demos[SHORT_RUN][FEW_IMAGES]
    by_age = [
        say(
            "{accuracy:.1f} % with such that are {steps} steps old",
            accuracy=float(np.median(c.y)),
            steps=c.series.rpartition(" ")[2],
        )
        for c in others
    ]
    return say(
        "After equally many images {fresh:.1f} % are right with fresh gradients, {stale}; of a"
        " sixteenth of the images, seen as often as makes as many, {few:.1f} % (medians over"
        " seeds).",
        fresh=float(np.median(fresh.y)),
        stale=", ".join(by_age),
        few=float(np.median(few.y)),
    )


def _times(demos: Demos) -> str:
    small, notes = demos[NOTES_US_PER_IMAGE].values()
    sizes = [c.series.rpartition(" ")[2] for c in (small, notes)]
    return say(
        "A step of the notes' LeNet takes {small:.3g} µs per image at a batch of {small_batch}, and"
        " {notes:.3g} at {notes_batch} (medians over starts). A larger batch pays only as far as"
        " epochs get shorter by more than they get more.",
        small=float(np.median(small.y)),
        small_batch=sizes[0],
        notes=float(np.median(notes.y)),
        notes_batch=sizes[1],
    )


def _table(demos: Demos) -> Table:
    def cell(series: str | None) -> str:
        if series is None:
            return "–"
        epochs, reached = demos[EPOCHS][series].y, demos[REACHED][series].y
        diverged = int(demos[EPOCHS][series].diverged.sum())
        missed = int((1 - reached).sum()) - diverged
        words = [", ".join(f"{e:.2g}" for e in np.sort(epochs[reached == 1]))]
        words += [say("{n} not reached", n=missed)] if missed else []
        words += [say("{n} diverged", n=diverged)] if diverged else []
        return "; ".join(filter(None, words))

    times = demos[US_PER_IMAGE]
    sizes = [int(series.rpartition(" ")[2]) for series in times]
    arms = _arms(demos)
    rows = [[arm, *(cell(arms[arm].get(n)) for n in sizes)] for arm in arms]
    medians = [f"{np.median(c.y):.3g}" for c in times.values()]
    rows.append([say("time of an image (µs)"), *medians])
    return Table(
        [say("epochs to the target"), *(say("batch {n}", n=n) for n in sizes)],
        rows,
        say(
            "One number for each seed that reached it. Times are medians over starts, on one"
            " device."
        ),
    )


def _draw(demos: Demos, m: dict[str, Any], path: Path) -> None:
    with figures.figure(path, 12, 4.2) as fig:
        left, middle, right = fig.subplots(1, 3)
        per_epoch = {
            int(series.rpartition(" ")[2]): float(np.median(c.y)) * m[TRAIN_IMAGES] / 1e6
            for series, c in demos[US_PER_IMAGE].items()
        }
        for axes, scale in ((left, dict.fromkeys(per_epoch, 1.0)), (middle, per_epoch)):
            axes.set(xscale="log", yscale="log", xlabel="images per batch")
            for i, (arm, by_size) in enumerate(_arms(demos).items()):
                _draw_arm(axes, demos, arm, by_size, scale, i)
            figures.plain_ticks(axes.yaxis)
            axes.set_xticks(list(per_epoch), [f"{n}" for n in per_epoch], minor=False)
            axes.set_xticks([], minor=True)
        left.set_title(f"Epochs to {m[TARGET_PERCENT]:g} %")
        left.legend(frameon=False, fontsize=9)
        virtual = " (virtual)" if m["device_kind"] == "cpu-virtual" else ""
        middle.set_title(f"Seconds to it on one device{virtual}")
        _draw_short_runs(right, demos)


def _draw_arm(
    axes: Axes, demos: Demos, arm: str, by_size: dict[int, str], scale: dict[int, float], i: int
) -> None:
    """Draw an arm's seeds, crosses for those that did not get there, and a line of medians."""
    colour, medians = figures.COLOURS[i], {}
    for size, series in by_size.items():
        x, y = size * 1.1 ** (i - 1), demos[EPOCHS][series].y * scale[size]
        reached = demos[REACHED][series].y == 1
        axes.plot(np.full(reached.sum(), x), y[reached], "o", color=colour, markersize=3.5)
        axes.plot(np.full((~reached).sum(), x), y[~reached], "x", color=colour, markersize=5)
        epochs, more = _epochs(demos, series)
        medians[x] = np.nan if more else epochs * scale[size]
    axes.plot(list(medians), list(medians.values()), color=colour, label=arm)


def _draw_short_runs(axes: Axes, demos: Demos) -> None:
    arms = list(demos[SHORT_RUN].values())
    for i, c in enumerate(arms):
        axes.plot(c.y, np.full(len(c.y), i), "o", color=figures.COLOURS[0], alpha=0.5)
        axes.plot(np.median(c.y), i, "|", color=figures.COLOURS[1], markersize=16)
    axes.set_yticks(range(len(arms)), [c.series for c in arms])
    axes.invert_yaxis()
    axes.set(title="Accuracy by staleness (%)")
