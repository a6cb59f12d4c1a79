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
    FIXED,
    LINEAR,
    NOT_REACHED_PERCENT,
    ONE_DEVICE,
    RULES,
    TARGET_PERCENT,
    TRAIN_IMAGES,
    US_PER_IMAGE,
    WARM_UP,
    large_batch_penalty,
    rule_of,
)
from stages.convergence.over_seeds import epochs_of, median_and_range

Demos = dict[str, dict[str, Curve]]
FLAT = 2.0  # epochs may grow by so much before a batch counts as one that costs


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
        findings=_findings(demos, m),
        figures=[
            Figure(
                "convergence",
                say(
                    "Epochs and seconds until the target accuracy, by batch size, for three rules"
                    " for the rate."
                ),
                say(
                    "Dots are seeds, lines their medians; crosses at the top edge are seeds that"
                    " did not reach the target within the budget, or diverged. Seconds are those"
                    " of one device at that batch size, on {devices}.",
                    devices=devices_in_words(m["device_kind"]),
                ),
                partial(_draw, demos, m),
            )
        ],
        tables=[_table(demos)],
        try_this=TryThis(
            "convergence.lr", "0.005", say("see up to which batch a larger rate then works")
        ),
    )


def _seeds(demos: Demos, rule: str) -> list[Curve]:
    return [c for c in demos[EPOCHS].values() if rule_of(c.series) == rule]


def _batches(demos: Demos) -> list[int]:
    return [int(x) for x in _seeds(demos, FIXED)[0].x]


def _medians(demos: Demos, rule: str) -> np.ndarray:
    """Median epochs by batch size; infinity where most of the seeds failed."""
    epochs = epochs_of(demos[EPOCHS].values(), rule)
    return np.array([median_and_range(seeds)[0] for seeds in epochs.T])


def _seconds_per_epoch(demos: Demos, m: dict[str, Any]) -> np.ndarray:
    """Seconds of an epoch on one device by batch size."""
    us_per_image: np.ndarray = demos[US_PER_IMAGE][ONE_DEVICE].y
    return us_per_image * float(m[TRAIN_IMAGES]) / 1e6


def _flat_up_to(demos: Demos, rule: str) -> int | None:
    """The largest batch until which median epochs stay within FLAT times the smallest's."""
    medians, flat = _medians(demos, rule), None
    for n, epochs in zip(_batches(demos), medians, strict=True):
        if not np.isfinite(epochs) or epochs > FLAT * medians[0]:
            break
        flat = n
    return flat


def _findings(demos: Demos, m: dict[str, Any]) -> list[str]:
    sizes = _batches(demos)
    return [
        say(
            "Epochs until {target:g} % of the test images are right stay within {flat:g} times"
            " those at {smallest} images: {reach_fixed}; {reach_linear}; {reach_warm_up}. At"
            " {largest} images it takes {cost_fixed}, {cost_linear}, {cost_warm_up} times as many.",
            target=m[TARGET_PERCENT],
            flat=FLAT,
            smallest=sizes[0],
            largest=sizes[-1],
            reach_fixed=_reach(demos, FIXED),
            reach_linear=_reach(demos, LINEAR),
            reach_warm_up=_reach(demos, WARM_UP),
            cost_fixed=_cost(demos, m, FIXED),
            cost_linear=_cost(demos, m, LINEAR),
            cost_warm_up=_cost(demos, m, WARM_UP),
        ),
        " ".join(
            [
                _failures(m),
                *_quickest(demos, m),
                say(
                    "A larger batch pays only as far as more devices shorten an epoch by more than"
                    " it adds epochs."
                ),
            ]
        ),
    ]


def _reach(demos: Demos, rule: str) -> str:
    """Up to which batch a rule needs no more epochs."""
    smallest, flat = _batches(demos)[0], _flat_up_to(demos, rule)
    if flat is None:
        return say("{rule} most runs failed even at {smallest}", rule=rule, smallest=smallest)
    if flat == smallest:
        return say("{rule} at no larger batch", rule=rule)
    return say("{rule} up to {flat}", rule=rule, flat=flat)


def _cost(demos: Demos, m: dict[str, Any], rule: str) -> str:
    """How many times the epochs the largest batch takes; a bound where a seed failed."""
    name = large_batch_penalty(rule)
    found = {"median": m[name], "low": m[f"{name}_low"], "high": m[f"{name}_high"]}
    if not all(np.isfinite(c.y[-1]) for c in _seeds(demos, rule)):
        return say(
            "at least {median:.0f} ({rule}; {low:.0f} to {high:.0f} over seeds)", rule=rule, **found
        )
    return say("{median:.0f} ({rule}; {low:.0f} to {high:.0f} over seeds)", rule=rule, **found)


def _failures(m: dict[str, Any]) -> str:
    diverged = m[DIVERGED_PERCENT]
    failed = m[NOT_REACHED_PERCENT] + diverged
    if not diverged:
        return say(
            "Of all runs {failed:.0f} % did not reach the target, none because it diverged.",
            failed=failed,
        )
    return say(
        "Of all runs {failed:.0f} % did not reach the target, {diverged:.0f} % because they"
        " diverged.",
        failed=failed,
        diverged=diverged,
    )


def _quickest(demos: Demos, m: dict[str, Any]) -> list[str]:
    """The sentence on the shortest median time to the target, if a batch reached it."""
    seconds, batch_size, rule = min(
        (float(s), n, rule)
        for rule in RULES
        for s, n in zip(
            _medians(demos, rule) * _seconds_per_epoch(demos, m), _batches(demos), strict=True
        )
    )
    if not np.isfinite(seconds):
        return []
    return [
        say(
            "On one device the shortest way to it was a batch of {batch_size} with {rule},"
            " {seconds:.2g} s.",
            batch_size=batch_size,
            rule=rule,
            seconds=seconds,
        )
    ]


def _table(demos: Demos) -> Table:
    def cell(seeds: list[Curve], i: int) -> str:
        epochs = [float(c.y[i]) for c in seeds]
        reached = sorted(e for e in epochs if np.isfinite(e))
        diverged = int(sum(c.diverged[i] for c in seeds))
        missed = len(epochs) - len(reached) - diverged
        words = [", ".join(f"{e:.2g}" for e in reached)] if reached else []
        words += [say("{n} not reached", n=missed)] if missed else []
        return "; ".join(words + ([say("{n} diverged", n=diverged)] if diverged else []))

    sizes, times = _batches(demos), demos[US_PER_IMAGE][ONE_DEVICE]
    rows = [[rule, *(cell(_seeds(demos, rule), i) for i in range(len(sizes)))] for rule in RULES]
    rows.append(
        [
            say("time of an image (µs)"),
            *(
                f"{us:.3g} ({high - low:.1g})"
                for us, low, high in zip(times.y, times.low, times.high, strict=True)
            ),
        ]
    )
    return Table(
        [say("epochs to the target"), *(say("batch {n}", n=n) for n in sizes)],
        rows,
        say(
            "One number for each seed that reached it. At the smallest batch a scaled rate is the"
            " fixed one. Times are medians on one device, measured in turn, with the range of"
            " their middle half."
        ),
    )


def _draw(demos: Demos, m: dict[str, Any], path: Path) -> None:
    sizes = np.array(_batches(demos), dtype=float)
    epochs = np.array([c.y for rule in RULES for c in _seeds(demos, rule)])
    with figures.figure(path, 11, 4.2) as fig:
        left, right = fig.subplots(1, 2)
        for axes, scale in ((left, np.ones(len(sizes))), (right, _seconds_per_epoch(demos, m))):
            drawn = (epochs * scale)[np.isfinite(epochs)]
            low, high = (drawn.min(), drawn.max()) if len(drawn) else (0.1, 1.0)
            axes.set(
                xscale="log", yscale="log", xlabel="images per batch", ylim=(low / 1.5, high * 3)
            )
            axes.set_xlim(sizes[0] / 1.5, sizes[-1] * 1.5)
            for i, rule in enumerate(RULES):
                medians = _medians(demos, rule)
                reached = np.where(np.isfinite(medians), medians, np.nan)
                _draw_rule(axes, _seeds(demos, rule), reached * scale, scale, i)
            figures.plain_ticks(axes.yaxis)
            axes.set_xticks(sizes, [f"{n:.0f}" for n in sizes], minor=False)
            axes.set_xticks([], minor=True)
            if not np.isfinite(epochs).all():
                axes.text(
                    0.99,
                    0.84,
                    "not reached",
                    ha="right",
                    va="top",
                    color=figures.FAINT,
                    transform=axes.transAxes,
                    fontsize=10,
                )
        left.set_title(f"Epochs to {m[TARGET_PERCENT]:g} %")
        virtual = " (virtual)" if m["device_kind"] == "cpu-virtual" else ""
        right.set_title(f"Seconds to it on one device{virtual}")


def _draw_rule(
    axes: Axes, seeds: list[Curve], medians: np.ndarray, scale: np.ndarray, i: int
) -> None:
    """Draw a rule's seeds, their medians and, at the top edge, each seed that failed."""
    colour, x = figures.COLOURS[i], seeds[0].x * 1.12 ** (i - 1)
    axes.plot(x, medians, color=colour)
    top = axes.get_ylim()[1]
    for j, c in enumerate(seeds):
        axes.plot(x, c.y * scale, "o", color=colour, markersize=3.5, alpha=0.7)
        failed = ~np.isfinite(c.y)
        axes.plot(
            x[failed], np.full(failed.sum(), top / 1.08 ** (j + 1)), "x", color=colour, markersize=5
        )
    axes.text(
        0.02,
        0.97 - 0.075 * i,
        rule_of(seeds[0].series),
        color=colour,
        va="top",
        transform=axes.transAxes,
        fontsize=10,
    )
