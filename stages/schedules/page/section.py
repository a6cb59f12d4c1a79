"""The report's section on schedules (12.11): findings and figures."""

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
from matplotlib.axes import Axes

from lab.report import benchmarks, figures
from lab.report.benchmarks import TITLES
from lab.report.language import say
from lab.report.page import Figure, Section, TryThis
from lab.results.measurements import Curve, Results
from lab.results.stats import CONFIDENCE, Ratio, median_ratio, paired_ratios
from stages.schedules.measure.names import AS_THE_BOOK, CONSTANT, NO_WARM_UP, WARM_UP
from stages.schedules.page.explorables import rate_schedule

RISING = ("cosine, warm-up", "inverse sqrt, warm-up", "one-cycle", AS_THE_BOOK)
DASHES = ("-", (0, (4, 2)), (0, (1, 1.5)), (0, (6, 2, 1, 2)), (0, (2, 2)))


def labels() -> dict[str, str]:
    """The schedules as the page calls them."""
    return {
        CONSTANT: say("constant"),
        "square root": say("square root"),
        "factor 0.9": say("factor {factor}", factor=0.9),
        "multi-step": say("multi-step"),
        "cosine": say("cosine"),
        "cosine, warm-up": say("cosine, warm-up"),
        "inverse sqrt, warm-up": say("inverse sqrt, warm-up"),
        "one-cycle": say("one-cycle"),
        AS_THE_BOOK: say("the book's loop"),
    }


def section(folder: Path) -> Section:
    """The section of `folder` (reports/schedules)."""
    results, m = benchmarks.read(folder)
    return Section(
        stage="schedules",
        title=say("Schedules, and warm-up put to the test"),
        book="12.11",
        question=say(
            "What does a learning-rate schedule buy, and does warm-up prevent divergence?"
        ),
        answer=_answer(results, m),
        findings=[
            _ranking(results, m),
            *[_warm_up(results, net) for net in m["nets"].split()],
            say(
                "The book prints an accuracy of 0.888 for a constant learning rate and 0.901 for"
                " the cosine, one seed each, after far more steps."
            ),
        ],
        figures=_figures(results, m),
        explorables=[rate_schedule()],
        try_this=TryThis(
            "schedules.highest_rate.lenet.batch_size",
            "16",
            say("Does warm-up help more where the gradients are noisier?"),
            say(
                "Smaller batches lower both highest learning rates, since noise adds to every step."
                " Whether their ratio changes is open: the few seeds here leave its interval wide."
            ),
        ),
    )


def _figures(results: Results, m: dict[str, Any]) -> list[Figure]:
    return [
        Figure(
            "schedule_results",
            say(
                "LeNet's test accuracy at the end of each schedule, and the highest learning rate"
                " with warm-up against without."
            ),
            say(
                "Accuracies: dots are medians, bars the middle half of {seeds} seeds; “the book's"
                " loop” is the cosine with warm-up, an epoch late. Highest learning rates: a dot is"
                " a seed; on the line warm-up changes nothing.",
                seeds=len(_accuracies(results)[CONSTANT]),
            ),
            [partial(_draw_results, results), partial(_draw_highest_rates, results, m)],
        ),
        Figure(
            "schedules",
            say("Learning rate against epochs for each schedule."),
            say(
                "The notes draw the cosine with warm-up. The book's training loop sets the learning"
                " rate after each epoch: its first epoch runs at the full one, its second at 0."
            ),
            [partial(_draw_schedules, results, False), partial(_draw_schedules, results, True)],
        ),
        Figure(
            "divergence",
            say("Training losses just below and just above the highest learning rate."),
            say(
                "LeNet without warm-up, one seed: two learning rates, next to each other in the"
                " search, on both sides of the highest one at which it learns."
            ),
            [partial(_draw_losses, results)],
        ),
    ]


def _answer(results: Results, m: dict[str, Any]) -> str:
    found = _gain(results, "lenet")
    values = {
        "points": m["best_accuracy_percent"] - m["constant_accuracy_percent"],
        "ratio": m["lenet_warm_up_gain"],
        "low": found.low,
        "high": found.high,
    }
    if found.verdict == "inconclusive":
        return say(
            "The best schedule gains {points:.1f} points over a constant learning rate; warm-up's"
            " effect on the highest stable one is unclear: {ratio:.2f} times ({low:.2f} to"
            " {high:.2f}).",
            **values,
        )
    return say(
        "The best schedule gains {points:.1f} points over a constant learning rate; with warm-up"
        " the highest stable one is {ratio:.2f} times as high ({low:.2f} to {high:.2f}).",
        **values,
    )


def _ranking(results: Results, m: dict[str, Any]) -> str:
    return say(
        "Of {count} schedules half of the seeds choose “{best}”; on the other half it ends at"
        " {accuracy:.1f} %, a constant learning rate at {constant:.1f} %.",
        count=sum(name != AS_THE_BOOK for name in _accuracies(results)),
        best=labels()[m["best_schedule"]],
        accuracy=m["best_accuracy_percent"],
        constant=m["constant_accuracy_percent"],
    )


def _accuracies(results: Results) -> dict[str, Sequence[float]]:
    """The accuracies under each schedule, by seed."""
    return {
        m.variant: m.values for m in results.measurements if m.experiment == "schedule_accuracy"
    }


def _rates(results: Results, net: str) -> tuple[Sequence[float], Sequence[float]]:
    """The highest stable rates without warm-up and with it, by seed."""
    found = {
        m.variant: m.values
        for m in results.measurements
        if m.experiment == "highest_stable_rate" and m.columns["net"] == net
    }
    return found[NO_WARM_UP], found[WARM_UP]


def _gain(results: Results, net: str) -> Ratio:
    """How many times as high a rate a net bears with warm-up."""
    plain, warm = _rates(results, net)
    return median_ratio(paired_ratios(warm, plain))


def _warm_up(results: Results, net: str) -> str:
    (plain, warm), found = _rates(results, net), _gain(results, net)
    values = {
        "net": TITLES[net],
        "gain": found.median,
        "low": found.low,
        "high": found.high,
        "warm": median(warm),
        "plain": median(plain),
    }
    if found.level < CONFIDENCE:
        return say(
            "With warm-up {net} learns at up to {gain:.2f} times the learning rate ({low:.2f} to"
            " {high:.2f}: {level:.3g} % of {seeds} seeds), {warm:#.3g} instead of {plain:#.3g}.",
            level=100 * found.level,
            seeds=found.count,
            **values,
        )
    return say(
        "With the notes' warm-up {net} learns at up to {gain:.2f} times the learning rate"
        " ({low:.2f} to {high:.2f}): {warm:#.3g} instead of {plain:#.3g} (medians).",
        **values,
    )


def _draw_results(results: Results, path: Path) -> None:
    ranked = sorted(_accuracies(results).items(), key=lambda item: median(item[1]))
    with figures.figure(path, figures.WIDTH, 1.0 + 0.26 * len(ranked)) as fig:
        axes = fig.add_subplot(xlabel=say("LeNet's test accuracy (%)"))
        for i, (name, percent) in enumerate(ranked):
            low, middle, high = np.percentile(percent, [25, 50, 75])
            colour = figures.COLOURS[0 if name == CONSTANT else 2]
            axes.plot([low, high], [i, i], color=colour, linewidth=4, alpha=0.4)
            axes.plot(middle, i, "o", color=colour)
        axes.set_yticks(range(len(ranked)), [labels()[name] for name, _ in ranked])
        axes.grid(visible=False, axis="y")


def _draw_highest_rates(results: Results, m: dict[str, Any], path: Path) -> None:
    found = {net: _rates(results, net) for net in m["nets"].split()}
    ends = [rate for rates in found.values() for variant in rates for rate in variant]
    low, high = min(ends) / 1.2, max(ends) * 1.2
    with figures.figure(path, figures.WIDTH, 3.3) as fig:
        axes = fig.add_subplot(
            xscale="log",
            yscale="log",
            xlim=(low, high),
            ylim=(low, high),
            xlabel=say("highest learning rate without warm-up"),
            ylabel=say("highest one with warm-up"),
        )
        for axis in (axes.xaxis, axes.yaxis):
            figures.plain_ticks(axis)
        axes.plot([low, high], [low, high], "--", color=figures.FAINT)
        for i, (net, (plain, warm)) in enumerate(found.items()):
            axes.plot(plain, warm, "os"[i], color=figures.COLOURS[i], alpha=0.75, label=TITLES[net])
        soft: dict[str, Any] = {"color": figures.FAINT_TEXT, "transform": axes.transAxes}
        axes.text(0.04, 0.94, say("warm-up helps"), va="top", **soft)
        axes.text(0.96, 0.05, say("warm-up hurts"), ha="right", **soft)
        if len(found) > 1:  # one net needs no name
            figures.key(fig, axes)


def _draw_schedules(results: Results, rising: bool, path: Path) -> None:
    """Draw the schedules that rise before they fall, or the others."""
    found = {
        name: c for name, c in results.curves("schedule").items() if (name in RISING) == rising
    }
    title = say("That rise first") if rising else say("That only fall")
    with figures.figure(path, figures.WIDTH, 2.9) as fig:
        axes = fig.add_subplot(
            title=title, xlabel=say("epochs"), ylabel=say("learning rate"), xlim=(0, 20)
        )
        axes.set_ylim(0, 0.32)
        axes.set_xticks(range(0, 21, 5))
        figures.label_ends(axes, list(_schedule_lines(axes, found)), gap=0.085)


def _schedule_lines(
    axes: Axes, found: Mapping[str, Curve]
) -> Sequence[tuple[str, float, float, str]]:
    """Draw each schedule, and give their labels."""
    ends, words = [], labels() | _without_warm_up()
    for i, (name, c) in enumerate(found.items()):
        book = name == AS_THE_BOOK  # a rate for each whole epoch
        colour, thin = figures.COLOURS[i], slice(None, None, 1 if book else 2)
        axes.plot(
            c.x[thin],
            c.y[thin],
            color=colour,
            linestyle=DASHES[i],
            drawstyle="steps-post" if book else "default",
        )
        ends.append((words[name], float(c.x[-1]), float(c.y[-1]), colour))
    return ends


def _without_warm_up() -> dict[str, str]:
    """Shorter names where the title says that all rise first."""
    return {"cosine, warm-up": say("cosine"), "inverse sqrt, warm-up": say("inverse sqrt")}


def _loss_limits(results: Results) -> tuple[float, float]:
    """From the lowest loss up to somewhat above that of a constant answer; the start is higher."""
    lowest = min(np.nanmin(c.y) for c in results.curves("losses", net="lenet").values())
    return float(lowest) - 0.2, 1.4 * float(np.log(10))


def _draw_losses(results: Results, path: Path) -> None:
    words = {"still learns": say("still learns"), "diverges": say("diverges")}
    curves = results.curves("losses", net="lenet")
    with figures.figure(path, figures.WIDTH, 2.9) as fig:
        axes = fig.add_subplot(
            xlabel=say("step"), ylabel=say("LeNet's training loss"), ylim=_loss_limits(results)
        )
        axes.margins(x=0)
        ends = []
        for i, (side, word) in enumerate(words.items()):
            c = curves[side]
            axes.plot(c.x, c.y, color=figures.COLOURS[i], linestyle=DASHES[i])
            finite = np.flatnonzero(np.isfinite(c.y))[-1]
            ends.append((word, float(c.x[finite]), float(c.y[finite]), figures.COLOURS[i]))
        constant = float(np.log(10))
        axes.axhline(constant, color=figures.FAINT, linewidth=1)
        axes.text(
            0.98,
            constant + 0.14,
            say("no better than a constant answer"),
            ha="right",
            color=figures.FAINT_TEXT,
            transform=axes.get_yaxis_transform(),
        )
        figures.label_ends(axes, ends, gap=0.085)
