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
from lab.results.curves import Curve, curves_of, key

Demos = dict[str, dict[str, Curve]]
FIXED, LINEAR, WARM_UP = "fixed rate", "rate x batch", "rate x batch, warm-up"  # as lab/convergence
RULES = (FIXED, LINEAR, WARM_UP)
FLAT = 2.0  # epochs may grow by so much before a batch counts as one that costs


def section(folder: Path) -> Section:
    """Return the section of `folder` (reports/convergence)."""
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
                    " did not reach the"
                    " target within the budget, or diverged. Seconds are those of one device at"
                    " that batch size, on"
                    " {devices}.",
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
    return [c for name, c in demos["epochs"].items() if name.startswith(f"{rule}, seed ")]


def _batches(demos: Demos) -> list[int]:
    return [int(x) for x in _seeds(demos, FIXED)[0].x]


def _epochs(m: dict[str, Any], rule: str, batch_size: int, suffix: str = "epochs") -> float | str:
    """Return the median over seeds, a number or how most of them failed."""
    value: float | str = m[f"{key(rule)}_batch_{batch_size}_{suffix}"]
    return value


def _flat_up_to(demos: Demos, m: dict[str, Any], rule: str) -> int | None:
    """Return the largest batch until which median epochs stay within twice the smallest's; None for
    no batch.
    """
    sizes = _batches(demos)
    first = _epochs(m, rule, sizes[0])
    if isinstance(first, str):
        return None
    flat = sizes[0]
    for n in sizes[1:]:
        epochs = _epochs(m, rule, n)
        if isinstance(epochs, str) or epochs > FLAT * first:
            break
        flat = n
    return flat


def _findings(demos: Demos, m: dict[str, Any]) -> list[str]:
    sizes = _batches(demos)
    reach = {f"reach_{key(rule)}": _reach(demos, m, rule) for rule in RULES}
    cost = {f"cost_{key(rule)}": _cost(m, rule) for rule in RULES}
    return [
        say(
            "Epochs until {target:g} % of the test images are right stay within {flat:g} times"
            " those at {smallest}"
            " images: {reach_fixed_rate}; {reach_rate_x_batch}; {reach_rate_x_batch_warm_up}. At"
            " {largest} images"
            " it takes {cost_fixed_rate}, {cost_rate_x_batch}, {cost_rate_x_batch_warm_up} times"
            " as many.",
            target=m["target_percent"],
            flat=FLAT,
            smallest=sizes[0],
            largest=sizes[-1],
            **reach,
            **cost,
        ),
        " ".join(
            [
                _failures(m),
                *_quickest(sizes, m),
                say(
                    "A larger batch pays only as far as more devices shorten an epoch by more than"
                    " it"
                    " adds epochs."
                ),
            ]
        ),
    ]


def _reach(demos: Demos, m: dict[str, Any], rule: str) -> str:
    """Return up to which batch a rule needs no more epochs."""
    smallest, flat = _batches(demos)[0], _flat_up_to(demos, m, rule)
    if flat is None:
        return say("{rule} most runs failed even at {smallest}", rule=rule, smallest=smallest)
    if flat == smallest:
        return say("{rule} at no larger batch", rule=rule)
    return say("{rule} up to {flat}", rule=rule, flat=flat)


def _cost(m: dict[str, Any], rule: str) -> str:
    """Return how many times the epochs the largest batch takes by a rule."""
    name = f"{key(rule)}_large_batch_penalty"
    found = {"median": m[name], "low": m[f"{name}_low"], "high": m[f"{name}_high"]}
    if m[f"{name}_is"] == "a lower bound":
        return say(
            "at least {median:.0f} ({rule}; {low:.0f} to {high:.0f} over seeds)", rule=rule, **found
        )
    return say("{median:.0f} ({rule}; {low:.0f} to {high:.0f} over seeds)", rule=rule, **found)


def _failures(m: dict[str, Any]) -> str:
    lost = [
        m[f"{key(rule)}_{how}_percent"] for rule in RULES for how in ("not_reached", "diverged")
    ]
    failed, diverged = sum(lost) / len(RULES), sum(lost[1::2]) / len(RULES)
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


def _quickest(sizes: list[int], m: dict[str, Any]) -> list[str]:
    """Return the sentence on the shortest time to the target, if any batch reached it."""
    reached = [
        (s, n, rule)
        for rule in RULES
        for n in sizes
        if not isinstance(s := _epochs(m, rule, n, "seconds"), str)
    ]
    if not reached:
        return []
    seconds, batch_size, rule = min(reached)
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

    sizes, times = _batches(demos), demos["us_per_image"]["one device"]
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
            " fixed one. Times"
            " are medians on one device, measured in turn, with the range of their middle half."
        ),
    )


def _draw(demos: Demos, m: dict[str, Any], path: Path) -> None:
    sizes = np.array(_batches(demos), dtype=float)
    times = demos["us_per_image"]["one device"].y
    seconds_per_epoch = times * m["train_images"] / 1e6
    epochs = np.array([c.y for rule in RULES for c in _seeds(demos, rule)])
    with figures.figure(path, 11, 4.2) as fig:
        left, right = fig.subplots(1, 2)
        for axes, scale in ((left, np.ones(len(sizes))), (right, seconds_per_epoch)):
            drawn = (epochs * scale)[np.isfinite(epochs)]
            low, high = (drawn.min(), drawn.max()) if len(drawn) else (0.1, 1.0)
            axes.set(
                xscale="log", yscale="log", xlabel="images per batch", ylim=(low / 1.5, high * 3)
            )
            axes.set_xlim(sizes[0] / 1.5, sizes[-1] * 1.5)
            for i, rule in enumerate(RULES):
                medians = np.array([_number(_epochs(m, rule, int(n))) for n in sizes])
                _draw_rule(axes, _seeds(demos, rule), medians * scale, scale, i)
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
        left.set_title(f"Epochs to {m['target_percent']:g} %")
        virtual = " (virtual)" if m["device_kind"] == "cpu-virtual" else ""
        right.set_title(f"Seconds to it on one device{virtual}")


def _number(value: float | str) -> float:
    return np.nan if isinstance(value, str) else value


def _draw_rule(
    axes: Axes, seeds: list[Curve], medians: np.ndarray, scale: np.ndarray, i: int
) -> None:
    """Draw a rule's seeds, their medians and, at the top edge, each seed without the target; rules
    side by side.
    """
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
        seeds[0].series.partition(", seed ")[0],
        color=colour,
        va="top",
        transform=axes.transAxes,
        fontsize=10,
    )
