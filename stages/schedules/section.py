"""The report's section on schedules (12.11): findings and figures."""

from functools import partial
from pathlib import Path
from typing import Any

from lab.core.files import read_json, read_rows
from lab.report import figures
from lab.report.language import say
from lab.report.page import Figure, Section, TryThis
from lab.results.curves import Curve, curves_of
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
        findings=[_ranking(demos, m), *_warm_up(demos, m)],
        figures=[
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
                say("Test accuracy of each schedule after 20 epochs."),
                say(
                    "Median over seeds and the middle half of them, on shrunken Fashion-MNIST, all"
                    " from base rate 0.3. The book prints 0.888 for a constant rate and 0.901 for"
                    " the cosine, with LeNet and one seed each."
                ),
                partial(_draw_results, demos),
            ),
            Figure(
                "warm_up",
                say("Failed runs and accuracy against the base rate, with and without warm-up."),
                say(
                    "Left: share of seeds that label the test images no better than a constant"
                    " answer. Right: the others' accuracy. A cosine follows in every arm."
                ),
                partial(_draw_warm_up, demos),
            ),
        ],
        try_this=TryThis(
            "schedules.warm_up_epochs", "1", say("see whether a shorter rise still helps")
        ),
    )


def _ranking(demos: Demos, m: dict[str, Any]) -> str:
    results = demos[names.ACCURACY]
    best, constant = results[m[names.BEST_SCHEDULE]], results[names.CONSTANT]
    apart = best.low[0] > constant.high[0]
    return say(
        "The best of {count} schedules, {best}, ends at {accuracy:.1f} % against {constant:.1f} %"
        " for a constant rate (medians over seeds); the middle halves of the seeds {overlap}.",
        count=sum(name != names.AS_THE_BOOK for name in results),
        best=best.series,
        accuracy=m[names.BEST_ACCURACY],
        constant=m[names.CONSTANT_ACCURACY],
        overlap=say("do not overlap") if apart else say("overlap, so this is no ranking"),
    )


def _warm_up(demos: Demos, m: dict[str, Any]) -> list[str]:
    accuracy = demos[names.ACCURACY_BY_RATE]
    plain, warm = accuracy[names.NO_WARM_UP], accuracy[names.WARM_UP]
    better = [x for x, lo, hi in zip(plain.x, warm.low, plain.high, strict=True) if lo > hi]
    failed = say(
        "With warm-up {warm:.1f} % of all runs fail, without it {plain:.1f} %.",
        warm=m[names.FAILED_PERCENT[names.WARM_UP]],
        plain=m[names.FAILED_PERCENT[names.NO_WARM_UP]],
    )
    if better:
        lifted = say(
            "At base rate {rates} warm-up also lifts the accuracy of the others so far that the"
            " middle halves of the seeds part.",
            rates=", ".join(f"{x:g}" for x in better),
        )
    else:
        lifted = say(
            "At no base rate warm-up also lifts the accuracy of the others so far that the middle"
            " halves of the seeds part."
        )
    return [
        f"{failed} {lifted}",
        say(
            "Applied as the book's code does, {failed:.1f} % fail: at the highest rate"
            " {highest:.0f} % of the seeds, whose whole first epoch runs at the full rate.",
            failed=m[names.FAILED_PERCENT[names.AS_THE_BOOK]],
            highest=100 * demos[names.FAILURES][names.AS_THE_BOOK].y[-1],
        ),
    ]


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
    results = sorted(demos[names.ACCURACY].values(), key=lambda c: c.y[0])
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
        rates = demos[names.FAILURES][names.WARM_UP].x
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
            for demo in (names.FAILURES, names.ACCURACY_BY_RATE)
        }
        figures.draw_curves(failures, percent[names.FAILURES], labels=False)
        figures.draw_curves(accuracy, percent[names.ACCURACY_BY_RATE])
