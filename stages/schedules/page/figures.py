"""Figures and tables of the page on learning-rate schedules."""

from pathlib import Path
from statistics import median

from lab.report import plots
from lab.report.benchmarks import TITLES
from lab.report.figures import COLOURS, WIDTH, figure, label_ends
from lab.report.language import say, translation
from lab.report.page import Figure
from lab.results.findings import Findings
from lab.results.measurements import Results
from stages.schedules.findings import best_schedule
from stages.schedules.measure.names import AS_THE_BOOK, CONSTANT, NO_WARM_UP, WARM_UP

RISING = ("cosine, warm-up", "inverse sqrt, warm-up", "one-cycle", AS_THE_BOOK)
# A schedule has one colour on the whole page, which no schedule in the same panel shares. The
# explorable has the cosine's colour for rates set before steps, the book loop's for after epochs.
COLOURED = {
    CONSTANT: 4,
    "square root": 1,
    "factor 0.9": 5,
    "multi-step": 2,
    "cosine": 0,
    "cosine, warm-up": 0,
    "inverse sqrt, warm-up": 1,
    "one-cycle": 2,
    AS_THE_BOOK: 3,
}
DASHES = ("-", "--", ":", "-.", (0, (2, 2)))


def values(results: Results, found: Findings) -> dict[str, object]:
    plain = results.samples("highest_stable_rate", NO_WARM_UP, net="lenet").values
    cosine, constant = (
        results.samples("schedule_accuracy", name).values for name in ("cosine", CONSTANT)
    )
    return {
        "wins": sum(a > b for a, b in zip(cosine, constant, strict=True)),
        "lowest": min(plain),
        "highest": max(plain),
        "search_steps": len(results.xs("losses", "diverges", net="lenet")),
        "best": best_schedule(results),
        "late_begin": results.curves("schedule")[AS_THE_BOOK].y[0],
    }


def figures(results: Results, found: Findings) -> list[Figure]:
    accuracies = {
        name: results.samples("schedule_accuracy", name).values
        for name in results.variants("schedule_accuracy")
    }
    best_first = sorted(accuracies, key=lambda name: -median(accuracies[name]))
    ranked = {translation(name): accuracies[name] for name in best_first}
    limits = {}
    for net in results.conditions["nets"].split():
        plain, warm = (
            results.samples("highest_stable_rate", variant, net=net).values
            for variant in (NO_WARM_UP, WARM_UP)
        )
        limits[say("{net}, no warm-up", net=TITLES[net])] = plain
        limits[say("{net}, warm-up", net=TITLES[net])] = warm
    return [
        Figure("schedules", [drawn(results, rising=True), drawn(results, rising=False)]),
        Figure("schedule_results", [plots.bars(ranked, say("LeNet's test accuracy (%)"))]),
        Figure("highest_rates", [plots.bars(limits, say("Highest stable learning rate"))]),
    ]


def drawn(results: Results, *, rising: bool) -> plots.Draw:
    """Draw the schedules that rise before they fall and the book's loop, or the others."""
    curves = results.curves("schedule")
    shown = {name: c for name, c in curves.items() if (name in RISING) == rising}

    # the title says "With warm-up"
    short = {"cosine, warm-up": say("cosine"), "inverse sqrt, warm-up": say("inverse sqrt")}

    def draw(path: Path) -> None:
        with figure(path, WIDTH, 2.9) as fig:
            axes = fig.add_subplot(
                title=say("With warm-up") if rising else say("Without warm-up"),
                xlabel=say("Epoch"),
                ylabel=say("Learning rate"),
                xlim=(0, 20),
                ylim=(0, 0.32),
                xticks=range(0, 21, 5),
            )
            ends = []
            for (name, c), dashes in zip(shown.items(), DASHES, strict=False):
                colour = COLOURS[COLOURED[name]]
                if name == AS_THE_BOOK:  # a rate for each whole epoch
                    axes.plot(c.x, c.y, color=colour, drawstyle="steps-post", linewidth=2.4)
                else:
                    axes.plot(c.x, c.y, color=colour, linestyle=dashes)
                label = short.get(name, translation(name))
                ends.append((label, 20.0, float(c.y[-1]), colour))
            label_ends(axes, ends, gap=0.085)

    return draw
