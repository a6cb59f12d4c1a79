"""The report's section on schedules (12.11): figures, and sentences filled in from the metrics."""

from functools import partial
from pathlib import Path
from typing import Any

from lab.core.files import read_json, read_rows
from lab.report import figures
from lab.report.language import say
from lab.report.page import Figure, Section, TryThis
from lab.results.curves import Curve, curves_of

Demos = dict[str, dict[str, Curve]]
BOOK_WAY = "warm-up as the book applies it"


def section(folder: Path) -> Section:
    """Return the section of `folder` (reports/schedules)."""
    demos, m = curves_of(read_rows(folder / "rows.csv")), read_json(folder / "metrics.json")
    return Section(
        stage="schedules",
        title=say("Schedules, and warm-up put to the test"),
        book="12.11",
        question=say(
            "What does a learning-rate schedule buy, and does warm-up prevent divergence?"
        ),
        findings=[_ranking(demos), *_warm_up(demos, m)],
        figures=[
            Figure(
                "schedules",
                say("Learning rate against epochs for each schedule."),
                say(
                    "The notes' figure is the cosine with warm-up. The last panel is what the"
                    " book's training loop"
                    " makes of it: it sets the rate after the epoch, so the first epoch runs at"
                    " the full rate and"
                    " the second at 0."
                ),
                partial(_draw_schedules, demos),
            ),
            Figure(
                "schedule_results",
                say("Test accuracy of each schedule after 20 epochs."),
                say(
                    "Median over seeds and the middle half of them, on shrunken Fashion-MNIST, all"
                    " from base rate"
                    " 0.3. The book prints 0.888 for a constant rate and 0.901 for the cosine,"
                    " with LeNet and one"
                    " seed each."
                ),
                partial(_draw_results, demos),
            ),
            Figure(
                "warm_up",
                say("Failed runs and accuracy against the base rate, with and without warm-up."),
                say(
                    "Left: share of seeds that label the test images no better than a constant"
                    " answer. Right: the"
                    " others' accuracy. A cosine follows in every arm."
                ),
                partial(_draw_warm_up, demos),
            ),
        ],
        try_this=TryThis(
            "schedules.warm_up_epochs", "1", say("see whether a shorter rise still helps")
        ),
    )


def _ranking(demos: Demos) -> str:
    results = {name: c for name, c in demos["schedule_accuracy"].items() if name != BOOK_WAY}
    best, constant = max(results.values(), key=lambda c: c.y[0]), results["constant"]
    apart = best.low[0] > constant.high[0]
    return say(
        "The best of {count} schedules, {best}, ends at {accuracy:.1f} % against {constant:.1f} %"
        " for a constant"
        " rate (medians over seeds); the middle halves of the seeds {overlap}.",
        count=len(results),
        best=best.series,
        accuracy=100 * best.y[0],
        constant=100 * constant.y[0],
        overlap=say("do not overlap") if apart else say("overlap, so this is no ranking"),
    )


def _warm_up(demos: Demos, m: dict[str, Any]) -> list[str]:
    accuracy = demos["warm_up_accuracy"]
    plain, warm = accuracy["no warm-up"], accuracy["warm-up"]
    better = [x for x, lo, hi in zip(plain.x, warm.low, plain.high, strict=True) if lo > hi]
    failed = say(
        "With warm-up {warm:.1f} % of all runs fail, without it {plain:.1f} %.",
        warm=m["warm_up_failed_percent"],
        plain=m["no_warm_up_failed_percent"],
    )
    if better:
        lifted = say(
            "At base rate {rates} warm-up also lifts the accuracy of the others so far that the"
            " middle halves of"
            " the seeds part.",
            rates=", ".join(f"{x:g}" for x in better),
        )
    else:
        lifted = say(
            "At no base rate warm-up also lifts the accuracy of the others so far that the middle"
            " halves of the"
            " seeds part."
        )
    return [
        f"{failed} {lifted}",
        say(
            "Applied as the book's code does, {failed:.1f} % fail: at the highest rate"
            " {highest:.0f} % of the"
            " seeds, whose whole first epoch runs at the full rate.",
            failed=m["warm_up_as_the_book_applies_it_failed_percent"],
            highest=100 * demos["warm_up_failures"][BOOK_WAY].y[-1],
        ),
    ]


def _draw_schedules(demos: Demos, path: Path) -> None:
    with figures.figure(path, 10, 5) as fig:
        panels = fig.subplots(3, 3, sharex=True, sharey=True)
        for i, (axes, c) in enumerate(zip(panels.flat, demos["schedule"].values(), strict=True)):
            axes.plot(
                c.x,
                c.y,
                color=figures.COLOURS[c.series == BOOK_WAY],
                drawstyle="default" if i != 8 else "steps-post",
            )
            axes.set_title(c.series)
        panels[2, 1].set_xlabel("epoch")
        panels[1, 0].set_ylabel("learning rate")


def _draw_results(demos: Demos, path: Path) -> None:
    results = sorted(demos["schedule_accuracy"].values(), key=lambda c: c.y[0])
    with figures.figure(path, 8, 0.9 + 0.34 * len(results)) as fig:
        axes = fig.add_subplot(xlabel="test accuracy (%), median and middle half of the seeds")
        for i, c in enumerate(results):
            axes.plot(
                [100 * c.low[0], 100 * c.high[0]],
                [i, i],
                color=figures.COLOURS[0],
                linewidth=4,
                alpha=0.35,
            )
            axes.plot(100 * c.y[0], i, "o", color=figures.COLOURS[0])
        axes.set_yticks(range(len(results)), [c.series for c in results])


def _draw_warm_up(demos: Demos, path: Path) -> None:
    with figures.figure(path, 11, 3.6) as fig:
        failures, accuracy = fig.subplots(1, 2)
        rates = demos["warm_up_failures"]["warm-up"].x
        for axes, title in (
            (failures, "Failed runs (% of seeds)"),
            (accuracy, "Accuracy of the others (%)"),
        ):
            axes.set(
                title=title,
                xlabel="base rate",
                xscale="log",
                ylim=(-3, 103) if axes is failures else (0, 90),
            )
            axes.set_xticks(rates, [f"{x:g}" for x in rates])
            axes.minorticks_off()
        percent = {
            demo: [c.scaled(y=100) for c in demos[demo].values()]
            for demo in ("warm_up_failures", "warm_up_accuracy")
        }
        figures.draw_curves(failures, percent["warm_up_failures"], labels=False)
        figures.draw_curves(accuracy, percent["warm_up_accuracy"])
