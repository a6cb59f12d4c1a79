"""The report's section on convergence (13.5, 13.7): what a larger batch costs in epochs."""

from collections.abc import Mapping
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
    REACHED,
    ROOT,
    SCALED,
    SHORT_RUN,
    SMALLEST,
    TARGET_PERCENT,
    TRAIN_IMAGES,
    TUNED_BATCH,
    US_PER_IMAGE,
    at_batch,
    batch,
)

Demos = dict[str, dict[str, Curve]]
CHANCE = 10  # percent of the test images that a constant answer labels correctly


def arms() -> dict[str, str]:
    """The ways to train at a batch size, as the page calls them."""
    return {
        FIXED: say("fixed learning rate"),
        SCALED: say("scaled learning rate"),
        ROOT: say("rate × √batch"),
        MOMENTUM: say("momentum"),
        LARS: "LARS",
    }


def section(folder: Path) -> Section:
    """The section on the results in `folder` (reports/convergence)."""
    demos, m = curves_of(read_rows(folder / "rows.csv")), read_json(folder / "metrics.json")
    return Section(
        stage="convergence",
        title=say("Convergence: what a larger batch costs"),
        book="13.5, 13.7",
        question=say(
            "How many epochs does the same accuracy take at a larger batch, and does a larger"
            " learning rate help?"
        ),
        answer=_answer(demos, m),
        findings=[*_failed(m), *_optimizers(demos, m), _times(demos, m), *_short_runs(demos)],
        figures=[
            Figure(
                "convergence",
                say("Epochs and seconds of training until the target accuracy, by batch size."),
                _caption(m),
                [partial(_draw_runs, demos, m, False), partial(_draw_runs, demos, m, True)],
            ),
            Figure(
                "convergence_stale",
                say("Test accuracy after equally many images, by the age of the gradients."),
                say(
                    "A dot is a seed, a bar the median; all runs see equally many images in batches"
                    " of {smallest}. A gradient that is 3 steps old was computed on the weights"
                    " before the last 3 updates. Dashed: a constant answer.",
                    smallest=m[SMALLEST],
                ),
                [partial(_draw_short_runs, demos)],
            ),
        ],
        tables=[_table(demos)],
        try_this=TryThis(
            "convergence.lr",
            "0.05",
            say("Does a quarter of the learning rate bring batch 256 closer to batch 64?"),
            say(
                "No: in a trial all took about twice as many epochs, and batch 256 still about"
                " three times as many as batch 64, often more than convergence.max_epochs allows."
                " At one learning rate it is mostly the number of steps that counts."
            ),
        ),
    )


def _caption(m: Mapping[str, Any]) -> str:
    sentences = [
        say(
            "A dot is a seed, a bar the median. Scaled: the learning rate grows with the batch,"
            " or with its square root, after a warm-up. Runs end after {n:g} epochs at most."
            " Seconds are those of one device ({devices}).",
            n=m[MAX_EPOCHS],
            devices=devices_in_words(m["device_kind"]),
        )
    ]
    if m[NOT_REACHED_PERCENT] + m[DIVERGED_PERCENT]:
        sentences.append(say("Crosses: seeds without the target by then."))
    if m[TUNED_BATCH]:
        sentences.append(
            say("Momentum and LARS have the best learning rate that other seeds found.")
        )
    return " ".join(sentences)


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


def _answer(demos: Demos, m: Mapping[str, Any]) -> str:
    smallest, largest = m[SMALLEST], m[LARGEST]
    return say(
        "To {target:g} % test accuracy LeNet takes {epochs} epochs at batch {smallest}, {fixed} at"
        " {largest}, and {scaled} there with {times:g} times the learning rate.",
        target=m[TARGET_PERCENT],
        epochs=_in_words(demos, at_batch(FIXED, smallest)),
        smallest=smallest,
        fixed=_in_words(demos, at_batch(FIXED, largest)),
        largest=largest,
        scaled=_in_words(demos, at_batch(SCALED, largest)),
        times=largest / smallest,
    )


def _failed(m: Mapping[str, Any]) -> list[str]:
    """The sentence on runs without the target, if there are any."""
    failed = m[NOT_REACHED_PERCENT] + m[DIVERGED_PERCENT]
    if not failed:
        return []
    return [
        say(
            "Of all runs {failed:.0f} % did not get there, {diverged:.0f} % because they diverged.",
            failed=failed,
            diverged=m[DIVERGED_PERCENT],
        )
    ]


def _optimizers(demos: Demos, m: Mapping[str, Any]) -> list[str]:
    """The sentence on the best learning rates, where they were looked for."""
    if not m[TUNED_BATCH]:
        return []
    return [
        say(
            "At its best learning rate SGD with momentum takes {small} epochs at batch {smallest},"
            " {large} at {largest}; LARS takes {lars} there.",
            small=_in_words(demos, at_batch(MOMENTUM, m[SMALLEST])),
            large=_in_words(demos, at_batch(MOMENTUM, m[LARGEST])),
            lars=_in_words(demos, at_batch(LARS, m[LARGEST])),
            smallest=m[SMALLEST],
            largest=m[LARGEST],
        )
    ]


def _times(demos: Demos, m: Mapping[str, Any]) -> str:
    small, large = (
        float(np.median(demos[US_PER_IMAGE][batch(m[size])].y)) for size in (SMALLEST, LARGEST)
    )
    return say(
        "An image takes {share:.0f} % as long at batch {largest} as at {smallest}: a larger batch"
        " pays only if its epochs rise by less.",
        share=100 * large / small,
        largest=m[LARGEST],
        smallest=m[SMALLEST],
    )


def _short_runs(demos: Demos) -> list[str]:
    runs = demos[SHORT_RUN]
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


def _table(demos: Demos) -> Table:
    def cell(series: str | None) -> str:
        if series is None:
            return "–"
        epochs, reached = demos[EPOCHS][series].y, demos[REACHED][series].y
        diverged = int(demos[EPOCHS][series].diverged.sum())
        missed = int((1 - reached).sum()) - diverged
        ended = epochs[reached == 1]
        words = [_in_words(demos, series)]
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

    times = demos[US_PER_IMAGE]
    sizes = [int(series.rpartition(" ")[2]) for series in times]
    by_arm, shown = _arms(demos), arms()
    rows = [[shown[arm], *(cell(by_arm[arm].get(n)) for n in sizes)] for arm in by_arm]
    medians = [f"{np.median(c.y):.3g}" for c in times.values()]
    rows.append([say("µs per image"), *medians])
    return Table(
        [say("epochs to the target"), *(say("batch {n}", n=n) for n in sizes)],
        rows,
        say(
            "Medians over seeds, in brackets the range of the seeds that reached the target. Times"
            " are medians over starts, on one device."
        ),
    )


def _draw_runs(demos: Demos, m: Mapping[str, Any], in_seconds: bool, path: Path) -> None:
    """Draw each seed's way to the target in a row of its batch size and arm."""
    shown, colours = arms(), dict(zip(_arms(demos), figures.COLOURS, strict=False))
    rows = sorted((n, arm) for arm, by_size in _arms(demos).items() for n in by_size)
    rows.sort(key=lambda row: (row[0], list(colours).index(row[1])))
    with figures.figure(path, figures.WIDTH, 0.9 + 0.42 * len(rows)) as fig:
        axes = fig.add_subplot()
        for i, (n, arm) in enumerate(rows):
            scale = _seconds_per_epoch(demos, m, n) if in_seconds else 1.0
            _draw_seeds(axes, demos, at_batch(arm, n), i, scale, colours[arm])
        axes.set_yticks(
            range(len(rows)), [say("batch {n}", n=n) + "\n" + shown[arm] for n, arm in rows]
        )
        axes.set_ylim(len(rows) - 0.45, -0.55)
        axes.set_xlim(left=0)
        axes.grid(visible=False, axis="y")
        target = m[TARGET_PERCENT]
        axes.set_xlabel(
            say("seconds to {target:g} % test accuracy", target=target)
            if in_seconds
            else say("epochs to {target:g} % test accuracy", target=target)
        )
        if m["device_kind"] == "cpu-virtual":
            figures.say_virtual(fig)


def _seconds_per_epoch(demos: Demos, m: Mapping[str, Any], batch_size: int) -> float:
    us_per_image = float(np.median(demos[US_PER_IMAGE][batch(batch_size)].y))
    return us_per_image * float(m[TRAIN_IMAGES]) / 1e6


def _draw_seeds(axes: Axes, demos: Demos, series: str, row: int, scale: float, colour: str) -> None:
    """Draw a series' seeds, crosses for those that did not get there, and a bar at their median."""
    epochs, reached = scale * demos[EPOCHS][series].y, demos[REACHED][series].y == 1
    axes.plot(epochs[reached], np.full(reached.sum(), row), "o", color=colour, alpha=0.6)
    axes.plot(epochs[~reached], np.full((~reached).sum(), row), "x", color=colour, markersize=7)
    median, more = _epochs(demos, series)
    if not more:
        _draw_median(axes, scale * median, row, colour)


def _draw_median(axes: Axes, value: float, row: int, colour: str) -> None:
    axes.plot([value, value], [row - 0.27, row + 0.27], color=colour, linewidth=2.5)


def _draw_short_runs(demos: Demos, path: Path) -> None:
    runs = list(demos[SHORT_RUN].values())
    with figures.figure(path, figures.WIDTH, 0.7 + 0.36 * len(runs)) as fig:
        axes = fig.add_subplot(xlabel=say("test accuracy, %"))
        axes.axvline(CHANCE, color=figures.FAINT, linestyle="--")
        for row, c in enumerate(runs):
            colour = figures.COLOURS[1 if c.series == FEW_IMAGES else 0]
            axes.plot(c.y, np.full(len(c.y), row), "o", color=colour, alpha=0.6)
            _draw_median(axes, float(np.median(c.y)), row, colour)
        axes.set_yticks(range(len(runs)), [_short_run_in_words(c.series) for c in runs])
        axes.set(xlim=(0, None), ylim=(len(runs) - 0.45, -0.55))
        axes.grid(visible=False, axis="y")
