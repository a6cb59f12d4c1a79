"""The report's section on steps of several devices (13.5, 13.7): predicted, then measured."""

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from matplotlib.axes import Axes

from lab.parallel.cost_model import allreduce_name
from lab.report import benchmarks, figures
from lab.report.benchmarks import TITLES
from lab.report.language import say, translation
from lab.report.page import Figure, Headline, Section, Table, TryThis
from lab.results.measurements import Measurement, Results
from lab.results.stats import Ratio, speedup
from stages.scaling.measure import predictions, step_model
from stages.scaling.measure.predictions import (
    ALLREDUCES,
    EQUAL_IMAGES,
    MAX_RULE,
    ComparedStep,
    compared_steps,
)
from stages.scaling.measure.simulated import STRONG_BATCH, WEAK_IMAGES
from stages.scaling.page import clusters_section
from stages.scaling.page.explorables import scaling_step

TICKS = (1, 4, 16, 64, 256, 1024)
# every other line is dashed: where two coincide, their colours alternate
DASHES = ("-", (0, (4, 3)), "-", (0, (4, 3)), (0, (1, 1.2)))


def section(folder: Path) -> Section:
    """The section of `folder` (reports/scaling)."""
    results, m = benchmarks.read(folder)
    steps = compared_steps(results)
    virtual = m["device_kind"] == "cpu-virtual"
    return Section(
        stage="scaling",
        title=say("A step on several devices, predicted and measured"),
        book="13.5, 13.7",
        question=say("How long does a step take on several devices, and do its parts predict it?"),
        answer=_answer(steps, m),
        headline=_headline(m),
        findings=[
            *_findings(results, steps, m),
            *benchmarks.trust(m),
            *benchmarks.skipped(results),
        ],
        figures=[
            Figure(
                "scaling_predicted",
                say("Predicted and measured time of each step, for LeNet and ResNet-18."),
                say(
                    "Bars: t1 and t2, from parts that the same start measured apart. Dots: the"
                    " whole step, with the middle half of the starts as a line. Where a dot lies at"
                    " its bar's end, t1 + t2 predicts it; diamonds are the notes' rule. Grey: from"
                    " where to where 95 % of the starts' steps should lie."
                ),
                [partial(_draw_net, steps, net, m["world_size"], virtual) for net in TITLES],
            ),
            Figure(
                "scaling_simulated",
                say(
                    "Simulated gain of up to 1024 devices on published interconnects, strong and"
                    " weak scaling."
                ),
                say(
                    "Simulated, not measured: devices as fast as this one, gradients summed by"
                    " ring in one bucket after the backward pass. Strong: one batch of"
                    " {batch:,} images over all. Weak: {images} on each. Where lines coincide,"
                    " their colours alternate.",
                    batch=STRONG_BATCH,
                    images=WEAK_IMAGES,
                ),
                [
                    partial(_draw_strong, results, "lenet"),
                    partial(_draw_strong, results, "resnet18"),
                    partial(_draw_weak, results, "lenet"),
                ],
            ),
            clusters_section.figure(results),
        ],
        tables=[
            _steps_table(results, steps),
            clusters_section.table(),
            _notes_batch_table(results),
            _crossing_table(results, m),
        ],
        explorables=[scaling_step(results, m["world_size"])],
        try_this=TryThis(
            "scaling.lenet.heldout_images",
            "[1, 2, 512]",
            say("Which LeNet step is predicted worst: with 1, 2 or 512 images on each device?"),
            say(
                "Relative to its time most likely the smallest: it is nearly all communication,"
                " which varies most from step to step. With 512 images communication hardly counts;"
                " what is left is the error of a line through two batch sizes, stretched to four"
                " times the larger one."
            ),
        ),
    )


def _answer(steps: Sequence[ComparedStep], m: Mapping[str, Any]) -> str:
    return say(
        "Computing plus communicating, t1 + t2, predicts {n} steps with {mean:.1f} % mean error"
        " (noise alone: {floor:.1f} %); the notes' max(t1, t2) with {longer:.0f} %.",
        n=len(steps),
        mean=m["mean_error_percent"],
        floor=m["noise_floor_percent"],
        longer=m["max_rule_mean_error_percent"],
    )


def _headline(m: Mapping[str, Any]) -> Headline:
    return Headline(
        say("{mean:.1f} %", mean=m["mean_error_percent"]),
        say(
            "noise alone: {floor:.1f} %; the worst step: {worst:.0f} %",
            floor=m["noise_floor_percent"],
            worst=m["largest_error_percent"],
        ),
        say(
            "mean error of t1 + t2 in predicting a step on {n} devices; of the notes' max(t1, t2):"
            " {longer:.0f} %.",
            n=m["world_size"],
            longer=m["max_rule_mean_error_percent"],
        ),
    )


def _findings(results: Results, steps: Sequence[ComparedStep], m: Mapping[str, Any]) -> list[str]:
    return [
        _worst(steps),
        say(
            "One half of the rounds predicts the other half's steps with {floor:.1f} % mean error:"
            " no model can be surer than that.",
            floor=m["noise_floor_percent"],
        ),
        say(
            "Of all measured times {percent:.0f} % lie in the intervals of 95 % that the other"
            " steps' errors gave.",
            percent=m["coverage_percent"],
        ),
        _in_a_row(predictions.in_a_row(results, steps), m["in_a_row_error_percent"]),
        say(
            "max(t1, t2) assumes overlap; code that all-reduces after the backward pass, as the"
            " notes' does, runs the two in sequence."
        ),
        *_both_nets(results, m["world_size"]),
        _late(results),
        _weak(results),
        *clusters_section.findings(),
    ]


def _worst(steps: Sequence[ComparedStep]) -> str:
    """Which step t1 + t2 misses most."""
    worst = max(steps, key=lambda step: abs(step.error))
    return say(
        "The largest miss: {net}, {allreduce}, {images:.0f} images on each device, predicted"
        " {error:.0f} % {direction}.",
        net=TITLES[worst.net],
        allreduce=translation(worst.allreduce),
        images=worst.measured.x,
        error=abs(100 * worst.error),
        direction=say("too short") if worst.error < 0 else say("too long"),
    )


def _in_a_row(steps: ComparedStep, error: float) -> str:
    """How long an epoch, or a part of it, was predicted to take, and took."""
    count = steps.measured.x
    return say(
        "{n:,.0f} of LeNet's steps at the notes' batch in a row ({allreduce}) took"
        " {measured:.3g} s, predicted {error:.0f} % {direction}.",
        n=count,
        measured=count * steps.measured.summary.median / 1e3,
        allreduce=translation(steps.allreduce),
        error=abs(error),
        direction=say("too short") if error < 0 else say("too long"),
    )


def _both_nets(results: Results, n: int) -> list[str]:
    """What several devices gain each net at the notes' batch, and how much of a step computes."""
    lenet, resnet = (
        speedup(
            *(
                _at_notes_batch(results, net, name).values
                for name in ("whole batch on one device", "step")
            )
        )
        for net in TITLES
    )
    shares = {net: results.series("efficiency", net)[0].summary.median for net in TITLES}
    return [
        say(
            "At the notes' batches {n} devices take LeNet's step {lenet} times as fast as one"
            " ({lenet_ends}), ResNet-18's {resnet} times ({resnet_ends}).",
            n=n,
            lenet=f"{lenet.median:.3g}",
            lenet_ends=_ends(lenet),
            resnet=f"{resnet.median:.3g}",
            resnet_ends=_ends(resnet),
        ),
        say(
            "With {images} images on each device computing is {of_lenet:.0f} % of LeNet's step,"
            " {of_resnet:.0f} % of ResNet-18's.",
            images=EQUAL_IMAGES,
            of_lenet=shares["lenet"],
            of_resnet=shares["resnet18"],
        ),
    ]


def _ends(found: Ratio) -> str:
    """The ends of a ratio's interval."""
    return say("{low:.3g} to {high:.3g}", low=found.low, high=found.high)


def _at_notes_batch(results: Results, net: str, name: str) -> Measurement:
    """A variant at the notes' batch, which every run has."""
    return results.series("notes' batch", name, net=net)[0]


def _late(results: Results) -> str:
    waits = [1e3 * late for late in step_model.waits(results).values()]
    return say(
        "The first message after computing arrives {shortest:.2g} to {longest:.2g} ms late (by"
        " algorithm), because the receiving processes must wake up.",
        shortest=min(waits),
        longest=max(waits),
    )


def _weak(results: Results) -> str:
    """What the most devices keep of the ideal in the simulation, if each has as many images."""
    kept = {
        net: [100 * series[-1].values[0] for series in _simulated(results, "weak", net)]
        for net in TITLES
    }
    count = _simulated(results, "weak", "lenet")[0][-1].x
    return say(
        "Simulated on {count:,.0f} devices with {images} images each, ResNet-18 keeps at least"
        " {resnet:.0f} % of the ideal speed, LeNet {low:.0f} to {high:.0f} %, by link.",
        count=count,
        images=WEAK_IMAGES,
        resnet=min(kept["resnet18"]),
        low=min(kept["lenet"]),
        high=max(kept["lenet"]),
    )


def _simulated(results: Results, experiment: str, net: str) -> list[list[Measurement]]:
    """A net's simulated scaling on each link."""
    links = results.variants(experiment, net=net)
    return [results.series(experiment, link, net=net) for link in links]


def _interval_ms(step: ComparedStep, steps: Sequence[ComparedStep]) -> tuple[float, float]:
    """From which to which time a start's step is predicted to take."""
    low, high = predictions.interval(step, steps)
    return low * step.predicted, high * step.predicted


def _name(step: ComparedStep) -> str:
    return say(
        "{net}, {allreduce}, {images:.0f} images",
        net=TITLES[step.net],
        allreduce=translation(step.allreduce),
        images=step.measured.x,
    )


def _ms(value: float) -> str:
    """Milliseconds without an exponent."""
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def _ms_and_iqr(m: Measurement) -> str:
    """A median in milliseconds, and the width of the middle half to two digits."""
    iqr = m.summary.iqr
    return f"{_ms(m.summary.median)} ({_ms(float(f'{iqr:.2g}'))})"


def _steps_table(results: Results, steps: Sequence[ComparedStep]) -> Table:
    rows = [
        [
            _name(s),
            _ms(s.t1.summary.median),
            _ms(s.t2.summary.median),
            _ms(s.predicted),
            "{} – {}".format(*map(_ms, _interval_ms(s, steps))),
            _ms_and_iqr(s.measured),
            figures.minus(f"{100 * s.error:+.1f} %"),
        ]
        for s in steps
    ]
    same = [min(m.values) == 1 for m in results.measurements if m.experiment == "same weights"]
    return Table(
        [
            say("step (images on each device)"),
            say("t1, ms"),
            say("t2, ms"),
            say("predicted, ms"),
            say("95 % interval, ms"),
            say("measured, ms (IQR)"),
            say("error"),
        ],
        rows,
        say(
            "Medians over the starts, in brackets the width of their middle half (IQR). After"
            " {same} of {n} steps all processes had the weights of replicas in one process.",
            same=sum(same),
            n=len(same),
        ),
    )


def _notes_batch_table(results: Results) -> Table:
    rows = []
    for net, title in TITLES.items():
        for name in results.variants("notes' batch", net=net):
            m = _at_notes_batch(results, net, name)
            rows.append(
                [
                    say("{net}: {part}", net=title, part=translation(name)),
                    f"{m.x:.0f}",
                    _ms_and_iqr(m),
                ]
            )
    return Table(
        [say("at the notes' batch"), say("images per device"), say("ms (IQR)")],
        rows,
        say(
            "Where such a step takes minutes here, computing is the line through smaller batches,"
            " and what a step takes beyond it is that of the largest of them, since the gradients"
            " are as many."
        ),
    )


def _crossing_table(results: Results, m: Mapping[str, Any]) -> Table:
    n = m["world_size"]
    links = {"shared": say("shared by all ranks"), "own": say("each rank's own")}
    rows = [
        [
            say("{net}: {part}", net=TITLES[net], part=translation(allreduce_name(*way))),
            _ms(predictions.t2_ms(results, net, *way)),
            f"{predictions.crossing(results, net, *way, n):.0f}",
        ]
        for net in TITLES
        for way in ALLREDUCES
    ]
    return Table(
        [say("way to sum"), say("t2, ms"), say("t1 > t2 from this batch on")],
        rows,
        say(
            "Over {n} devices, whose link is taken to be {link}; 0: from the first image on.",
            n=n,
            link=links[m["link"]],
        ),
    )


def _draw_net(
    steps: Sequence[ComparedStep], net: str, num_devices: int, virtual: bool, path: Path
) -> None:
    """Draw a net's steps: bars of the predicted parts, and what was measured over them."""
    rows = sorted((s for s in steps if s.net == net), key=lambda s: s.measured.x)
    with figures.figure(path, figures.WIDTH, 1.25 + 0.42 * len(rows)) as fig:
        axes = fig.add_subplot(xlabel=say("ms per step"))
        axes.set_title(say("{net} on {n} devices", net=TITLES[net], n=num_devices))
        for row, step in enumerate(rows):
            _draw_step(axes, row, step, _interval_ms(step, steps), virtual)
        axes.set_yticks(
            range(len(rows)),
            [translation(s.allreduce) + "\n" + say("{n:.0f} images", n=s.measured.x) for s in rows],
        )
        axes.set(xlim=(0, None), ylim=(len(rows) - 0.5, -0.5))
        axes.grid(visible=False, axis="y")
        handles, labels = axes.get_legend_handles_labels()
        named = dict(zip(labels, handles, strict=True))
        order = [*_part_names(), say("measured step"), MAX_RULE, say("95 % interval")]
        fig.legend(
            [named[name] for name in order],
            order,
            loc="outside lower center",
            ncols=2,
            frameon=False,
        )


def _part_names() -> tuple[str, str]:
    return say("t1: computing"), say("t2: communicating")


def _draw_step(
    axes: Axes, row: int, step: ComparedStep, interval_ms: tuple[float, float], virtual: bool
) -> None:
    """Draw a step in a row; the first row's parts have the labels of the key."""
    t1, t2 = step.t1.summary.median, step.t2.summary.median
    parts = zip((0.0, t1), (t1, t2), _part_names(), strict=True)
    for i, (left, width, label) in enumerate(parts):
        axes.barh(
            row,
            width,
            left=left,
            height=0.62,
            facecolor=figures.COLOURS[i],
            alpha=0.75,
            hatch=figures.VIRTUAL_HATCH if virtual else None,
            edgecolor=figures.PAPER,
            label=None if row else label,
        )
    axes.hlines(
        row + 0.4,
        *interval_ms,
        color=figures.FAINT,
        linewidth=1.5,
        label="" if row else say("95 % interval"),
    )
    taken = step.measured.summary
    axes.errorbar(
        taken.median,
        row,
        xerr=[[taken.median - taken.q1], [taken.q3 - taken.median]],
        fmt="o",
        color=figures.INK,
        markersize=6,
        linewidth=1.5,
        label=None if row else say("measured step"),
    )
    axes.plot(
        max(t1, t2),
        row,
        "D",
        color=figures.INK,
        fillstyle="none",
        markersize=7,
        label=None if row else MAX_RULE,
    )


def _draw_strong(results: Results, net: str, path: Path) -> None:
    with figures.figure(path, figures.WIDTH, 3.0) as fig:
        axes = fig.add_subplot(title=say("{net}: strong scaling, simulated", net=TITLES[net]))
        axes.set_ylabel(say("speed, times that of one device"))
        axes.set_yscale("log", base=2)
        axes.set(ylim=(1, 1400))
        axes.set_yticks(TICKS, map(str, TICKS))
        axes.plot([1, 1024], [1, 1024], color=figures.FAINT, linewidth=1)
        axes.annotate(
            say("ideal"),
            (32, 32),
            (-6, 4),
            textcoords="offset points",
            ha="right",
            color=figures.FAINT_TEXT,
        )
        _draw_links(axes, results, "strong", net, 1.0)


def _draw_weak(results: Results, net: str, path: Path) -> None:
    with figures.figure(path, figures.WIDTH, 3.0) as fig:
        axes = fig.add_subplot(title=say("{net}: weak scaling, simulated", net=TITLES[net]))
        axes.set(ylabel=say("speed, % of the ideal"), ylim=(0, 105))
        _draw_links(axes, results, "weak", net, 100.0)


def _draw_links(axes: Axes, results: Results, experiment: str, net: str, scale: float) -> None:
    """Draw a net's scaling on each link, and name the lines at their ends."""
    axes.set_xlabel(say("devices"))
    axes.set_xscale("log", base=2)
    axes.set(xlim=(1, 1024))
    axes.set_xticks(TICKS, map(str, TICKS))
    ends = []
    links = results.variants(experiment, net=net)
    for i, (link, series) in enumerate(
        zip(links, _simulated(results, experiment, net), strict=True)
    ):
        x, y = [m.x for m in series], [scale * m.values[0] for m in series]
        colour = figures.COLOURS[i % len(figures.COLOURS)]
        axes.plot(x, y, color=colour, linestyle=DASHES[i % len(DASHES)], linewidth=2)
        ends.append((translation(link), x[-1], y[-1], colour))
    figures.label_ends(axes, ends, gap=0.075)
