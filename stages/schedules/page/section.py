"""The report's section on schedules (12.11): findings and figures."""

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.axes import Axes

from lab.core.files import read_json, read_rows
from lab.report import figures
from lab.report.benchmarks import TITLES
from lab.report.language import say
from lab.report.page import Figure, Section, TryThis
from lab.results.curves import Curve, curves_of
from lab.results.stats import CONFIDENCE, Ratio, median_ratio, paired_ratios
from stages.schedules.measure import names
from stages.schedules.page.explorables import rate_schedule

Experiments = dict[str, dict[str, Curve]]
RISING = (names.COSINE_WARM_UP, names.INVERSE_SQRT_WARM_UP, names.ONE_CYCLE, names.AS_THE_BOOK)
DASHES = ("-", (0, (4, 2)), (0, (1, 1.5)), (0, (6, 2, 1, 2)), (0, (2, 2)))


def labels() -> dict[str, str]:
    """The schedules as the page calls them."""
    return {
        names.CONSTANT: say("constant"),
        names.SQUARE_ROOT: say("square root"),
        names.FACTOR: say("factor {factor}", factor=0.9),
        names.MULTI_STEP: say("multi-step"),
        names.COSINE: say("cosine"),
        names.COSINE_WARM_UP: say("cosine, warm-up"),
        names.INVERSE_SQRT_WARM_UP: say("inverse sqrt, warm-up"),
        names.ONE_CYCLE: say("one-cycle"),
        names.AS_THE_BOOK: say("the book's loop"),
    }


def section(folder: Path) -> Section:
    """The section of `folder` (reports/schedules)."""
    experiments, m = curves_of(read_rows(folder / "rows.csv")), read_json(folder / "metrics.json")
    return Section(
        stage="schedules",
        title=say("Schedules, and warm-up put to the test"),
        book="12.11",
        question=say(
            "What does a learning-rate schedule buy, and does warm-up prevent divergence?"
        ),
        answer=_answer(experiments, m),
        findings=[
            _ranking(experiments, m),
            *[_warm_up(experiments, net) for net in m[names.NETS].split()],
            say(
                "The book prints an accuracy of 0.888 for a constant learning rate and 0.901 for"
                " the cosine, one seed each, after far more steps."
            ),
        ],
        figures=_figures(experiments, m),
        explorables=[rate_schedule()],
        try_this=TryThis(
            "schedules.highest_rate.lenet.batch_size",
            "16",
            say("Does warm-up help more where the gradients are noisier?"),
            say(
                "Smaller batches lower both highest learning rates, since noise adds to every step."
                " Whether their ratio changes is open: eight seeds leave its interval wide."
            ),
        ),
    )


def _figures(experiments: Experiments, m: dict[str, Any]) -> list[Figure]:
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
                seeds=len(experiments[names.ACCURACY][names.CONSTANT].y),
            ),
            [partial(_draw_results, experiments), partial(_draw_highest_rates, experiments, m)],
        ),
        Figure(
            "schedules",
            say("Learning rate against epochs for each schedule."),
            say(
                "The notes draw the cosine with warm-up. The book's training loop sets the learning"
                " rate after each epoch: its first epoch runs at the full one, its second at 0."
            ),
            [
                partial(_draw_schedules, experiments, False),
                partial(_draw_schedules, experiments, True),
            ],
        ),
        Figure(
            "divergence",
            say("Training losses just below and just above the highest learning rate."),
            say(
                "LeNet without warm-up, one seed: two learning rates, next to each other in the"
                " search, on both sides of the highest one at which it learns."
            ),
            [partial(_draw_losses, experiments)],
        ),
    ]


def _answer(experiments: Experiments, m: dict[str, Any]) -> str:
    found = _gain(experiments, names.LENET)
    values = {
        "points": m[names.BEST_ACCURACY] - m[names.CONSTANT_ACCURACY],
        "ratio": m[names.gain(names.LENET)],
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


def _ranking(experiments: Experiments, m: dict[str, Any]) -> str:
    return say(
        "Of {count} schedules half of the seeds choose “{best}”; on the other half it ends at"
        " {accuracy:.1f} %, a constant learning rate at {constant:.1f} %.",
        count=sum(name != names.AS_THE_BOOK for name in experiments[names.ACCURACY]),
        best=labels()[m[names.BEST_SCHEDULE]],
        accuracy=m[names.BEST_ACCURACY],
        constant=m[names.CONSTANT_ACCURACY],
    )


def _rates(experiments: Experiments, net: str) -> tuple[np.ndarray, np.ndarray]:
    """The highest stable rates without warm-up and with it, by seed."""
    plain, warm = (
        experiments[names.STABLE_RATE][names.variant_of(net, variant)].y
        for variant in names.VARIANTS
    )
    return plain, warm


def _gain(experiments: Experiments, net: str) -> Ratio:
    """How many times as high a rate a net bears with warm-up."""
    plain, warm = _rates(experiments, net)
    return median_ratio(paired_ratios(list(warm), list(plain)))


def _warm_up(experiments: Experiments, net: str) -> str:
    (plain, warm), found = _rates(experiments, net), _gain(experiments, net)
    values = {
        "net": TITLES[net],
        "gain": found.median,
        "low": found.low,
        "high": found.high,
        "warm": float(np.median(warm)),
        "plain": float(np.median(plain)),
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


def _draw_results(experiments: Experiments, path: Path) -> None:
    results = sorted(
        experiments[names.ACCURACY].items(), key=lambda item: float(np.median(item[1].y))
    )
    with figures.figure(path, figures.WIDTH, 1.0 + 0.26 * len(results)) as fig:
        axes = fig.add_subplot(xlabel=say("LeNet's test accuracy (%)"))
        for i, (name, c) in enumerate(results):
            low, middle, high = np.percentile(c.y, [25, 50, 75])
            colour = figures.COLOURS[0 if name == names.CONSTANT else 2]
            axes.plot([low, high], [i, i], color=colour, linewidth=4, alpha=0.4)
            axes.plot(middle, i, "o", color=colour)
        axes.set_yticks(range(len(results)), [labels()[name] for name, _ in results])
        axes.grid(visible=False, axis="y")


def _draw_highest_rates(experiments: Experiments, m: dict[str, Any], path: Path) -> None:
    found = {net: _rates(experiments, net) for net in m[names.NETS].split()}
    ends = np.concatenate([rate for rates in found.values() for rate in rates])
    low, high = ends.min() / 1.2, ends.max() * 1.2
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


def _draw_schedules(experiments: Experiments, rising: bool, path: Path) -> None:
    """Draw the schedules that rise before they fall, or the others."""
    found = {
        name: c for name, c in experiments[names.SCHEDULE].items() if (name in RISING) == rising
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
        book = name == names.AS_THE_BOOK  # a rate for each whole epoch
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
    return {names.COSINE_WARM_UP: say("cosine"), names.INVERSE_SQRT_WARM_UP: say("inverse sqrt")}


def _loss_limits(experiments: Experiments) -> tuple[float, float]:
    """From the lowest loss up to somewhat above that of a constant answer; the start is higher."""
    lowest = min(np.nanmin(c.y) for c in experiments[names.LOSSES].values())
    return float(lowest) - 0.2, 1.4 * float(np.log(10))


def _draw_losses(experiments: Experiments, path: Path) -> None:
    words = {names.STABLE: say("still learns"), names.DIVERGING: say("diverges")}
    with figures.figure(path, figures.WIDTH, 2.9) as fig:
        axes = fig.add_subplot(
            xlabel=say("step"), ylabel=say("LeNet's training loss"), ylim=_loss_limits(experiments)
        )
        axes.margins(x=0)
        ends = []
        for i, (side, word) in enumerate(words.items()):
            c = experiments[names.LOSSES][names.variant_of(names.LENET, side)]
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
