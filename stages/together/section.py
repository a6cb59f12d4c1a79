"""The report's section on all lessons together: a staircase of seconds, and the table behind it."""

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from matplotlib.axes import Axes
from matplotlib.ticker import LogLocator

from lab.core.files import read_json, read_rows
from lab.report import figures
from lab.report.language import say
from lab.report.page import Figure, Section, Table, TryThis
from stages.together import names
from stages.together.seconds_to import SecondsTo, seconds_to

WHERE = {  # the stage that explains a lesson
    names.IN_MEMORY: "bench_input",
    names.SEEN_PIXELS: "bench_training",
    names.CHANNELS_LAST: "bench_training",
    names.KEPT_MEMORY: "bench_training",
    names.BF16: "bench_training",
    names.HE: "schedules",
    names.MOMENTUM: "optimizers",
    names.ONE_CYCLE: "schedules",
    names.BATCH_SIZE: "convergence",
    names.TWO_DEVICES: "replicas",
}


def lessons() -> dict[str, str]:
    """The rungs as the page calls them."""
    return {
        names.NOTES: say("the notes' way"),
        names.IN_MEMORY: say("images in memory"),
        names.SEEN_PIXELS: say("only pixels that count"),
        names.CHANNELS_LAST: say("channels last"),
        names.KEPT_MEMORY: say("memory kept"),
        names.BF16: "bfloat16",
        names.HE: say("weights that learn at once"),
        names.MOMENTUM: say("momentum"),
        names.ONE_CYCLE: say("one cycle of rates"),
        names.BATCH_SIZE: say("another batch size"),
        names.TWO_DEVICES: say("two devices"),
    }


@dataclass(frozen=True)
class Step:
    """A rung of the staircase to one accuracy."""

    rung: str
    found: SecondsTo
    virtual: bool


def staircase(rows: Sequence[Mapping[str, Any]], target: int) -> list[Step]:
    """The rungs that were measured, in order."""
    kinds = {str(row[names.RUNG]): row[names.DEVICE_KIND] for row in rows}
    measured = ((rung, seconds_to(rows, rung, target)) for rung in kinds if rung in names.RUNGS)
    return [Step(rung, found, kinds[rung] == "cpu-virtual") for rung, found in measured if found]


def section(folder: Path) -> Section:
    """The section of `folder` (reports/together)."""
    rows, m = read_rows(folder / "rows.csv"), read_json(folder / "metrics.json")
    ladder = [row for row in rows if row[names.RUNG] in names.RUNGS]
    targets = sorted({int(row[names.TARGET]) for row in ladder if row[names.TARGET]})
    found = records(rows)
    steps = {target: staircase(rows, target) for target in targets}
    return Section(
        stage="together",
        title=say("All lessons together"),
        book="13.5",
        question=say("What do all the lessons of the notes give together?"),
        findings=[
            *[line for target in targets for line in _findings(target, steps[target], m)],
            *_record_findings(found, m),
        ],
        figures=[
            Figure(
                "together",
                say("Seconds of training to an accuracy, from the notes' way to all lessons."),
                say(
                    "Each bar leads from the time of the rung above to its own: to the left is"
                    " faster. Hatched: virtual devices. “extrapolated”: a part of an epoch was"
                    " timed, and counts as often as the same steps needed epochs in bfloat16. “at"
                    " least”: training ended before it was that good. What was not trained so far"
                    " is left out."
                ),
                partial(_draw, steps),
            )
        ],
        tables=[
            *[_table(target, steps[target], m["seeds"]) for target in targets],
            _record_table(found),
        ],
        try_this=TryThis(
            "together.seeds", "3", say("see how far the times differ from seed to seed")
        ),
    )


def records(rows: Sequence[Mapping[str, Any]]) -> dict[str, SecondsTo]:
    """The records that were measured, by the names of their runs."""
    runs = dict.fromkeys(str(row[names.RUNG]) for row in rows)
    measured = {
        run: seconds_to(rows, run, names.target_of(run)) for run in runs if run not in names.RUNGS
    }
    return {run: found for run, found in measured.items() if found}


def _findings(target: int, steps: Sequence[Step], m: Mapping[str, Any]) -> list[str]:
    by_notes, by_all, speedup = (
        name.format(target) for name in (names.BY_THE_NOTES, names.BY_ALL, names.SPEEDUP)
    )
    if by_all not in m:
        return [say("With all lessons {target} % was not reached here.", target=target)]
    if speedup not in m:
        return [
            say(
                "To {target} % all lessons together take {all} s; the notes' way was not trained"
                " so far.",
                target=target,
                all=figures_of(m[by_all]),
            )
        ]
    _, biggest = max(itertools.pairwise(steps), key=lambda pair: _gain(*pair))
    return [
        say(
            "To {target} % test accuracy the notes' way takes {notes} s{how}, all lessons together"
            " {all} s: {ratio:.0f} times as fast.",
            target=target,
            notes=figures_of(m[by_notes]),
            how=" " + say("(extrapolated)") if steps[0].found.extrapolated else "",
            all=figures_of(m[by_all]),
            ratio=m[speedup],
        ),
        say(
            "The largest single step to {target} % is “{lesson}”.",
            target=target,
            lesson=lessons()[biggest.rung],
        ),
    ]


def _record_findings(found: Mapping[str, SecondsTo], m: Mapping[str, Any]) -> list[str]:
    reached = [
        say("{target} % in {seconds} s", target=names.target_of(run), seconds=figures_of(m[metric]))
        for run in found
        if (metric := f"{run}_s") in m
    ]
    if not reached:
        return []
    return [say("With any small net: {reached}.", reached=", ".join(reached))]


def _record_table(found: Mapping[str, SecondsTo]) -> Table:
    rows = [
        [
            run,
            f"{names.target_of(run)} %",
            _seconds_text(record),
            str(max(record.epochs)),
            "–" if record.accuracy is None else f"{record.accuracy:.2f} %",
            str(len(record.seconds)),
        ]
        for run, record in found.items()
    ]
    return Table(
        [
            say("record (a run of train.runs)"),
            say("to"),
            say("seconds of training"),
            say("epochs"),
            say("mean test accuracy"),
            say("number of seeds"),
        ],
        rows,
        say(
            "The rules: any net and recipe; training images alone are trained on, and recipes are"
            " chosen on 5,000 of these held out; the clock runs from the first batch to the last"
            " step, warming up included, without imports, reading the files and evaluation; the"
            " mean accuracy over all seeds, each trained to its end, is at the mark or above."
        ),
    )


def _gain(before: Step, after: Step) -> float:
    return before.found.median / after.found.median


def _seconds_text(found: SecondsTo) -> str:
    text = figures_of(found.median)
    if len(found.seconds) > 1:
        text += f" ({figures_of(min(found.seconds))}–{figures_of(max(found.seconds))})"
    text += " s"
    if not found.reached:
        text = say("at least {seconds}", seconds=text)
    return say("{seconds}, extrapolated", seconds=text) if found.extrapolated else text


def figures_of(seconds: float) -> str:
    """Seconds with three digits at most."""
    return f"{seconds:.0f}" if seconds >= 100 else f"{seconds:.1f}"


def _table(target: int, steps: Sequence[Step], seeds: int) -> Table:
    rows = []
    for i, step in enumerate(steps):
        found = step.found
        epochs = ", ".join(str(n) for n in dict.fromkeys(found.epochs))
        rows.append(
            [
                lessons()[step.rung],
                WHERE.get(step.rung, "–"),
                _seconds_text(found),
                f"{_gain(steps[i - 1], step):.2f}x" if i else "–",
                epochs,
                "–" if found.accuracy is None else f"{found.accuracy:.2f} %",
            ]
        )
    return Table(
        [
            say("to {target} %: one more lesson", target=target),
            say("explained in"),
            say("seconds of training"),
            say("times as fast"),
            say("epochs"),
            say("test accuracy"),
        ],
        rows,
        say(
            "Medians over {seeds} seed(s), and their range where there are several. The clock"
            " starts with the first batch's loading and leaves out evaluation.",
            seeds=f"{seeds:.0f}",
        ),
    )


def _draw(steps: Mapping[int, Sequence[Step]], path: Path) -> None:
    shown = {target: found for target, found in steps.items() if len(found) > 1}  # one is no stair
    most = max(map(len, shown.values()))
    with figures.figure(path, 11, 4.6) as fig:
        panels = fig.subplots(1, len(shown), squeeze=False)[0]
        for axes, (target, found) in zip(panels, shown.items(), strict=True):
            _draw_stairs(axes, found, most)
            axes.set(title=f"to {target} % test accuracy (s)")


def _draw_stairs(axes: Axes, steps: Sequence[Step], rows: int) -> None:
    """Draw a staircase in a panel that has room for so many rows."""
    seconds = [step.found.median for step in steps]
    low = min(seconds) / 2
    high = max(seconds) * (max(seconds) / low) ** 0.7  # room for the labels
    for row, step in enumerate(steps):
        before = seconds[row - 1] if row else low
        slower = row > 0 and seconds[row] > before
        axes.barh(
            row,
            abs(seconds[row] - before),
            left=min(before, seconds[row]),
            height=0.62,
            facecolor=figures.FAINT if not row else figures.COLOURS[1 if slower else 2],
            hatch=figures.VIRTUAL_HATCH if step.virtual else None,
            edgecolor=figures.PAPER,
        )
        axes.annotate(
            _label(step.found),
            (max(before, seconds[row]), row),
            (5, 0),
            textcoords="offset points",
            va="center",
            fontsize=10,
        )
    axes.set_yticks(range(len(steps)), [step.rung for step in steps])
    axes.set(xscale="log", xlim=(low, high), ylim=(rows - 0.4, -0.6))
    figures.plain_ticks(axes.xaxis)
    if high > 100 * low:  # ticks at the powers of ten alone, or their numbers would touch
        axes.xaxis.set_major_locator(LogLocator())
    axes.grid(visible=False, axis="y")


def _label(found: SecondsTo) -> str:
    text = f"{figures_of(found.median)} s"
    if not found.reached:
        text = f"at least {text}"
    return f"{text}, extrapolated" if found.extrapolated else text
