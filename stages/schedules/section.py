"""The report's section on schedules (12.11): findings and figures."""

from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from lab.core.files import read_json, read_rows
from lab.report import figures
from lab.report.language import say
from lab.report.page import Figure, Section, TryThis
from lab.results.curves import Curve, curves_of
from lab.results.stats import median_interval, median_level, paired_ratios
from stages.schedules import names

Demos = dict[str, dict[str, Curve]]


def section(folder: Path) -> Section:
    """The section of `folder` (reports/schedules)."""
    demos, m = curves_of(read_rows(folder / "rows.csv")), read_json(folder / "metrics.json")
    return Section(
        stage="schedules",
        title=say("Schedules, and warm-up put to the test"),
        book="12.11",
        question=say(
            "What does a learning-rate schedule buy, and does warm-up prevent divergence?"
        ),
        findings=[*_warm_up(demos, m), _ranking(demos, m)],
        figures=[
            Figure(
                "warm_up",
                say("The highest rate that a net bears, with warm-up against without."),
                say(
                    "Each dot is a seed; on the line warm-up changes nothing. Both rates are"
                    " bisected between one at which the net learns and one at which it ends no"
                    " better than a constant answer. Right: the loss of seed 0 on both sides of its"
                    " highest rate without warm-up; the dashed line is a constant answer's."
                ),
                partial(_draw_warm_up, demos, m),
            ),
            Figure(
                "schedules",
                say("Learning rate against epochs for each schedule."),
                say(
                    "The notes' figure is the cosine with warm-up. The last panel is what the"
                    " book's training loop makes of it: it sets the rate after the epoch, so the"
                    " first epoch runs at the full rate and the second at 0."
                ),
                partial(_draw_schedules, demos),
            ),
            Figure(
                "schedule_results",
                say("LeNet's test accuracy at the end of each schedule."),
                say(
                    "Median and middle half of {seeds} seeds, on Fashion-MNIST, all from base rate"
                    " 0.3; each schedule's 20 epochs are stretched to the same number of steps. The"
                    " book prints 0.888 for a constant rate and 0.901 for the cosine, with one seed"
                    " each.",
                    seeds=len(demos[names.ACCURACY][names.CONSTANT].y),
                ),
                partial(_draw_results, demos),
            ),
        ],
        try_this=TryThis(
            "schedules.highest_rate.lenet.batch_size",
            "16",
            say("see whether warm-up does more for a noisier gradient"),
        ),
    )


def _ranking(demos: Demos, m: dict[str, Any]) -> str:
    return say(
        "Of {count} schedules the best by one half of the seeds, {best}, ends at {accuracy:.1f} %"
        " in the other half, a constant rate at {constant:.1f} % (medians).",
        count=sum(name != names.AS_THE_BOOK for name in demos[names.ACCURACY]),
        best=m[names.BEST_SCHEDULE],
        accuracy=m[names.BEST_ACCURACY],
        constant=m[names.CONSTANT_ACCURACY],
    )


def _rates(demos: Demos, net: str) -> tuple[np.ndarray, np.ndarray]:
    """The highest stable rates without warm-up and with it, by seed."""
    plain, warm = (demos[names.STABLE_RATE][names.arm_of(net, arm)].y for arm in names.ARMS)
    return plain, warm


def _warm_up(demos: Demos, m: dict[str, Any]) -> list[str]:
    found = []
    for net in m[names.NETS].split():
        plain, warm = _rates(demos, net)
        low, high = median_interval(paired_ratios(list(warm), list(plain)))
        found.append(
            say(
                "With the notes' warm-up {net} bears {gain:.2f} times as high a rate as without:"
                " {warm:.3g} against {plain:.3g} (medians of {seeds} seeds; {low:.2f} to"
                " {high:.2f} holds the median with {level:.3g} %).",
                net=net,
                gain=m[names.gain(net)],
                warm=float(np.median(warm)),
                plain=float(np.median(plain)),
                seeds=len(plain),
                low=low,
                high=high,
                level=100 * median_level(len(plain)),
            )
        )
    return found


def _draw_warm_up(demos: Demos, m: dict[str, Any], path: Path) -> None:
    with figures.figure(path, 11, 4) as fig:
        rates, losses = fig.subplots(1, 2)
        ends = []
        for colour, net in zip(figures.COLOURS, m[names.NETS].split(), strict=False):
            plain, warm = _rates(demos, net)
            rates.plot(plain, warm, "o", color=colour, alpha=0.7, label=net)
            ends += [*plain, *warm]
        low, high = min(ends) / 1.3, max(ends) * 1.3
        rates.plot([low, high], [low, high], color=figures.FAINT, linewidth=1)
        rates.set(
            xscale="log",
            yscale="log",
            xlim=(low, high),
            ylim=(low, high),
            xlabel="highest rate without warm-up",
            ylabel="with warm-up",
        )
        if " " in m[names.NETS]:  # one net needs no name
            rates.legend(frameon=False)
        for axis in (rates.xaxis, rates.yaxis):
            figures.plain_ticks(axis)
        for side, colour in zip((names.STABLE, names.DIVERGING), figures.COLOURS, strict=False):
            c = demos[names.LOSSES][names.arm_of(names.LENET, side)]
            losses.plot(c.x, c.y, color=colour, label=side)
        losses.axhline(np.log(10), color=figures.FAINT, linestyle="--", linewidth=1)
        losses.set(xlabel="step", ylabel="training loss", ylim=(0, 4))
        losses.legend(frameon=False)


def _draw_schedules(demos: Demos, path: Path) -> None:
    with figures.figure(path, 10, 5) as fig:
        panels = fig.subplots(3, 3, sharex=True, sharey=True)
        for axes, c in zip(panels.flat, demos[names.SCHEDULE].values(), strict=True):
            book = c.series == names.AS_THE_BOOK  # a rate for each whole epoch
            axes.plot(
                c.x, c.y, color=figures.COLOURS[book], drawstyle="steps-post" if book else "default"
            )
            axes.set_title(c.series)
        panels[2, 1].set_xlabel("epoch")
        panels[1, 0].set_ylabel("learning rate")


def _draw_results(demos: Demos, path: Path) -> None:
    results = sorted(demos[names.ACCURACY].values(), key=lambda c: float(np.median(c.y)))
    with figures.figure(path, 8, 0.9 + 0.34 * len(results)) as fig:
        axes = fig.add_subplot(xlabel="test accuracy (%), median and middle half of the seeds")
        for i, c in enumerate(results):
            low, middle, high = np.percentile(c.y, [25, 50, 75])
            axes.plot([low, high], [i, i], color=figures.COLOURS[0], linewidth=4, alpha=0.35)
            axes.plot(middle, i, "o", color=figures.COLOURS[0])
        axes.set_yticks(range(len(results)), [c.series for c in results])
