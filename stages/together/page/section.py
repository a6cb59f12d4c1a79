"""The report's section on all lessons together: a staircase of seconds, and the table behind it."""

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from matplotlib.axes import Axes
from matplotlib.ticker import LogLocator

from lab.report import benchmarks, figures
from lab.report.language import say
from lab.report.page import Figure, Headline, Link, Section, Table, TryThis
from lab.results.measurements import Results
from stages.together.measure.time_to_accuracy import RUNGS, SecondsTo, seconds_to, target_of

WHERE = {  # the stage that explains a lesson
    "images in memory": "bench_input",
    "only pixels that count": "bench_training",
    "channels last": "bench_training",
    "memory kept": "bench_training",
    "bfloat16": "bench_training",
    "weights that learn at once": "schedules",
    "momentum": "optimizers",
    "one cycle of rates": "schedules",
    "another batch size": "convergence",
    "two devices": "replicas",
}


def lessons() -> dict[str, str]:
    """The rungs as the page calls them."""
    return {
        "the notes' way": say("the notes' way"),
        "images in memory": say("images in memory"),
        "only pixels that count": say("only pixels that count"),
        "channels last": say("channels last"),
        "memory kept": say("memory kept"),
        "bfloat16": "bfloat16",
        "weights that learn at once": say("weights that learn at once"),
        "momentum": say("momentum"),
        "one cycle of rates": say("one cycle of rates"),
        "another batch size": say("another batch size"),
        "two devices": say("two devices"),
    }


@dataclass(frozen=True)
class Step:
    """A rung of the staircase to one accuracy."""

    rung: str
    found: SecondsTo
    virtual: bool


def staircase(results: Results, target: int) -> list[Step]:
    """The rungs that were measured, in order."""
    kinds = {m.variant: m.device_kind for m in results.measurements if m.variant in RUNGS}
    measured = ((rung, seconds_to(results, rung, target)) for rung in kinds)
    return [Step(rung, found, kinds[rung] == "cpu-virtual") for rung, found in measured if found]


def section(folder: Path) -> Section:
    """The section of `folder` (reports/together)."""
    results, m = benchmarks.read(folder)
    ladder = (each for each in results.measurements if each.variant in RUNGS)
    targets = sorted({int(each.columns["target"]) for each in ladder} - {0})
    found = records(results)
    steps = {target: staircase(results, target) for target in targets}
    return Section(
        stage="together",
        title=say("All lessons together"),
        book="13.5",
        question=say("What do all the lessons of the notes give together?"),
        answer=_answer(targets[0], steps[targets[0]], m),
        headline=_headline(targets[0], steps[targets[0]], m),
        findings=[
            *[_answer(target, steps[target], m) for target in targets[1:]],
            *[line for target in targets for line in _biggest(target, steps[target])],
            *_record_findings(found, m),
        ],
        figures=[
            Figure(
                "together",
                say("Seconds of training to an accuracy, from the notes' way to all lessons."),
                say(
                    "Each bar leads from the time above it to its own: green is faster, orange"
                    " slower. “≈”: extrapolated from a part of an epoch. “≥”: training ended before"
                    " it was that good."
                ),
                [
                    partial(_draw, target, found)
                    for target, found in steps.items()
                    if len(found) > 1  # one is no stair
                ],
            )
        ],
        tables=[
            *[_table(target, steps[target], m["seeds"]) for target in targets],
            _record_table(found),
        ],
        try_this=TryThis(
            "together.seeds",
            "3",
            say("By how much do the times of three seeds differ?"),
            say(
                "By an epoch, where one seed passes the mark an epoch before another; hardly"
                " otherwise, since each step computes the same amount."
            ),
        ),
    )


def records(results: Results) -> dict[str, SecondsTo]:
    """The records that were measured, by the names of their runs."""
    runs = (run for run in results.variants("seconds") if run not in RUNGS)
    measured = {run: seconds_to(results, run, target_of(run)) for run in runs}
    return {run: found for run, found in measured.items() if found}


def _answer(target: int, steps: Sequence[Step], m: Mapping[str, Any]) -> str:
    by_notes, by_all, speedup = _metrics(target)
    if by_all not in m:
        return say("With all lessons {target} % was not reached here.", target=target)
    if speedup not in m:
        return say(
            "To {target} % all lessons together take {all} s; the notes' way was not trained so"
            " far.",
            target=target,
            all=figures_of(m[by_all]),
        )
    return say(
        "To {target} % test accuracy the notes' way takes {notes} s{how}, all lessons together"
        " {all} s: {ratio:.0f} times as fast.",
        target=target,
        notes=figures_of(m[by_notes]),
        how=" " + say("(extrapolated)") if steps[0].found.extrapolated else "",
        all=figures_of(m[by_all]),
        ratio=m[speedup],
    )


def _headline(target: int, steps: Sequence[Step], m: Mapping[str, Any]) -> Headline | None:
    by_notes, by_all, speedup = _metrics(target)
    if speedup not in m:
        return None
    return Headline(
        say("{ratio:.0f} times", ratio=m[speedup]),
        say(
            "{notes} s → {all} s; seeds: {count}",
            notes=figures_of(m[by_notes]),
            all=figures_of(m[by_all]),
            count=len(steps[0].found.seconds),
        ),
        say("as fast to {target} % test accuracy with all lessons of the notes.", target=target),
    )


def _metrics(target: int) -> list[str]:
    return [f"notes_to_{target}_s", f"all_to_{target}_s", f"speedup_to_{target}"]


def _biggest(target: int, steps: Sequence[Step]) -> list[str]:
    if len(steps) < 2:
        return []
    _, biggest = max(itertools.pairwise(steps), key=lambda pair: _gain(*pair))
    return [
        say(
            "The largest single step to {target} % is “{lesson}”.",
            target=target,
            lesson=lessons()[biggest.rung],
        )
    ]


def _record_findings(found: Mapping[str, SecondsTo], m: Mapping[str, Any]) -> list[str]:
    reached = [
        say("{target} % in {seconds} s", target=target_of(run), seconds=figures_of(m[metric]))
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
            f"{target_of(run)} %",
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
    rows: list[list[str | Link]] = []
    for i, step in enumerate(steps):
        found = step.found
        epochs = ", ".join(str(n) for n in dict.fromkeys(found.epochs))
        rows.append(
            [
                lessons()[step.rung],
                Link(WHERE[step.rung]) if step.rung in WHERE else "–",
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
            say("speed-up of this step"),
            say("epochs"),
            say("test accuracy"),
        ],
        rows,
        say(
            "Medians over the seeds ({seeds}), and their range where there are several. The clock"
            " starts with the first batch's loading and leaves out evaluation.",
            seeds=f"{seeds:.0f}",
        ),
    )


def _draw(target: int, steps: Sequence[Step], path: Path) -> None:
    seconds = [step.found.median for step in steps]
    low = min(seconds) / 2
    high = max(seconds) * (max(seconds) / low) ** 0.5  # room for the labels
    with figures.figure(path, figures.WIDTH, 0.8 + 0.26 * len(steps)) as fig:
        axes = fig.add_subplot()
        for row, step in enumerate(steps):
            _draw_stair(axes, row, seconds[max(0, row - 1)], step)
        axes.set_yticks(range(len(steps)), [lessons()[step.rung] for step in steps])
        axes.set(xscale="log", xlim=(low, high), ylim=(len(steps) - 0.4, -0.6))
        axes.set_title(say("Seconds to {target} % test accuracy", target=target), x=0)
        figures.plain_ticks(axes.xaxis)
        if high > 100 * low:  # ticks at the powers of ten alone, or their numbers would touch
            axes.xaxis.set_major_locator(LogLocator())
        axes.grid(visible=False, axis="y")


def _draw_stair(axes: Axes, row: int, before: float, step: Step) -> None:
    """Draw a bar from the seconds of the step before to its own; of the first a mark alone."""
    after = step.found.median
    colour = figures.COLOURS[1 if after > before else 2] if row else figures.FAINT
    axes.barh(
        row,
        abs(after - before) if row else 0,
        left=min(before, after),
        height=0.62,
        facecolor=colour,
        hatch=figures.VIRTUAL_HATCH if step.virtual else None,
        edgecolor=figures.PAPER,
    )
    axes.plot([after, after], [row - 0.31, row + 0.31], color=colour, linewidth=2.5)
    axes.annotate(
        _label(step.found),
        (max(before, after), row),
        (4, 0),
        textcoords="offset points",
        va="center",
    )


def _label(found: SecondsTo) -> str:
    text = f"{figures_of(found.median)} s"
    if not found.reached:
        text = f"≥ {text}"
    return f"≈ {text}" if found.extrapolated else text
