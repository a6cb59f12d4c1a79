"""The report's section on steps of several devices (13.5, 13.7): predicted, then measured."""

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from lab.claims.rules import Estimate
from lab.report import benchmarks, figures
from lab.report.language import say
from lab.report.page import Figure, Section, Table, TryThis
from lab.results.curves import line
from lab.results.measurements import Measurement, Results
from lab.results.stats import speedup
from stages.scaling import claims, names, predictor
from stages.scaling.predictor import ComparedStep, compared_steps

TITLES = {"lenet": "LeNet", "resnet18": "ResNet-18"}
TICKS = (1, 4, 16, 64, 256, 1024)
GOOD_PERCENT = 10.0  # mean error up to which the parts predict the steps


def section(folder: Path) -> Section:
    """The section of `folder` (reports/scaling)."""
    results, m = benchmarks.read(folder)
    steps = compared_steps(results)
    return Section(
        stage="scaling",
        title=say("A step on several devices, predicted and measured"),
        book="13.5, 13.7",
        question=say("How long does a step take on several devices, and do its parts predict it?"),
        findings=[*_findings(results, steps, m), benchmarks.trust(m), *benchmarks.skipped(results)],
        figures=[
            Figure(
                "scaling_predicted",
                say("Measured time of each step against its predicted time, on logarithmic axes."),
                say(
                    "Predicted from steps without communication and from single messages of the"
                    " same start. Dots are medians with the middle half of the starts; on the line"
                    " the two agree, in the band to within a tenth."
                ),
                partial(_draw_steps, steps, m),
            ),
            Figure(
                "scaling_simulated",
                say(
                    "Simulated gain of up to 1024 devices on published interconnects, strong and"
                    " weak scaling."
                ),
                say(
                    "Simulated, not measured: devices as fast as this one, gradients summed by"
                    " ring in one bucket after the backward pass. Strong: one batch of 8192 images"
                    " over all. Weak: 256 images on each."
                ),
                partial(_draw_simulated, results),
            ),
        ],
        tables=[
            _steps_table(results, steps),
            _notes_batch_table(results),
            _crossing_table(results, m),
        ],
        try_this=TryThis(
            "scaling.lenet.heldout_images", "[1, 2, 512]", say("see where the parts predict worst")
        ),
    )


def _findings(results: Results, steps: Sequence[ComparedStep], m: Mapping[str, Any]) -> list[str]:
    waits = [1e3 * late for late in predictor.waits(results).values()]
    late = say(
        "The first message after computing is {shortest:.2g} to {longest:.2g} ms late, by"
        " algorithm, since its receivers have to be woken; messages that follow one another are"
        " not. A link that is measured with messages alone does not show it.",
        shortest=min(waits),
        longest=max(waits),
    )
    crossings = [_crossing(results, m, net) for net in TITLES]
    return [
        _sum_rule(steps, m),
        _max_rule(results),
        _both_nets(results, m[names.WORLD_SIZE]),
        late,
        *crossings,
    ]


def _sum_rule(steps: Sequence[ComparedStep], m: Mapping[str, Any]) -> str:
    """How well t1 + t2 predicts the steps, and which it misses most."""
    worst = max(steps, key=lambda step: abs(step.error))
    judged = say("predict") if m[names.MEAN_ERROR] <= GOOD_PERCENT else say("do not predict")
    low, high = (m[f"{names.MEAN_ERROR}_{end}"] for end in ("low", "high"))
    return say(
        "The parts {judged} the {n} steps of their own start: t1 + t2 is off by {mean:.1f} %"
        " ({low:.1f} to {high:.1f}) in the mean over the steps, max(t1, t2) by {longer:.1f} %. The"
        " largest miss is {net}, {allreduce}, {images:.0f} images on each device: predicted"
        " {error:.0f} % {direction}, with {share:.0f} % of the predicted time for communication.",
        judged=judged,
        n=len(steps),
        mean=m[names.MEAN_ERROR],
        low=low,
        high=high,
        longer=m[names.MAX_RULE_MEAN_ERROR],
        net=TITLES[worst.net],
        allreduce=worst.allreduce,
        images=worst.measured.x,
        error=abs(100 * worst.error),
        direction=say("too short") if worst.error < 0 else say("too long"),
        share=100 * worst.t2.summary.median / worst.predicted,
    )


def _max_rule(results: Results) -> str:
    """What the notes' rule has hidden of the shorter part, and what the steps hide."""
    lenet, resnet = (
        claims.hidden(*(_at_notes_batch(results, net, name).values for name in arms))
        for net, arms in (
            ("lenet", (names.COMPUTING, names.SUMMING, names.STEP)),
            ("resnet18", (names.COMPUTING, names.BUCKET_ALONE, names.OVERLAPPED_STEP)),
        )
    )
    return say(
        "By the notes' max(t1, t2) the shorter part is hidden behind the longer. The notes' own way"
        " sums after the backward pass and hides {lenet} with LeNet; DistributedDataParallel, which"
        " begins during that pass, hides {resnet} with ResNet-18.",
        lenet=_hidden(lenet),
        resnet=_hidden(resnet),
    )


def _hidden(share: Estimate) -> str:
    ends = {"low": share.low, "high": share.high}
    if share.value < 0:
        return say(
            "none of it (the step takes longer than both together; {low:.0f} to {high:.0f} %)",
            **ends,
        )
    return say("{share:.0f} % of it ({low:.0f} to {high:.0f})", share=share.value, **ends)


def _both_nets(results: Results, n: int) -> str:
    """What several devices gain each net at the notes' batch."""
    gains = [
        speedup(*(_at_notes_batch(results, net, name).values for name in (whole, step)))
        for net in TITLES
        for whole, step in [(names.WHOLE_BATCH, names.STEP)]
    ]
    shares = {net: results.series(names.EFFICIENCY, net)[0].summary.median for net in TITLES}
    lenet, resnet = map(benchmarks.ratio_text, gains)
    return say(
        "At the notes' batches {n} devices take LeNet's step {lenet} as fast as one, ResNet-18's"
        " {resnet}. With {images} images on each device computing is {of_lenet:.0f} % of LeNet's"
        " step, and {of_resnet:.0f} % of ResNet-18's.",
        n=n,
        lenet=lenet,
        resnet=resnet,
        images=names.EQUAL_IMAGES,
        of_lenet=shares["lenet"],
        of_resnet=shares["resnet18"],
    )


def _at_notes_batch(results: Results, net: str, name: str) -> Measurement:
    """An arm at the notes' batch, which every run has."""
    return results.series(names.at_notes_batch(net), name)[0]


def _crossing(results: Results, m: Mapping[str, Any], net: str) -> str:
    """From which batch on a net computes for longer than it communicates, by two all-reduces."""
    n = m[names.WORLD_SIZE]
    star, ring = (
        _images(predictor.crossing(results, net, allreduce, n))
        for allreduce in (names.BY_NOTES, names.RING_BUCKET)
    )
    return say(
        "{net} computes for longer than it communicates (t1 > t2) from {star} on in the notes'"
        " way, and from {ring} on by ring in one bucket, over {n} devices.",
        net=TITLES[net],
        star=star,
        ring=ring,
        n=n,
    )


def _images(batch_size: float) -> str:
    return say("the first image") if batch_size <= 1 else say("a batch of {n:.0f}", n=batch_size)


def _steps_table(results: Results, steps: Sequence[ComparedStep]) -> Table:
    rows = [
        [
            f"{TITLES[s.net]}, {s.allreduce}",
            f"{s.measured.x:.0f}",
            f"{s.t1.summary.median:.2f}",
            f"{s.t2.summary.median:.2f}",
            f"{s.predicted:.2f}",
            f"{s.measured.summary.median:.2f} ({s.measured.summary.iqr:.2f})",
            f"{100 * s.error:+.1f} %",
        ]
        for s in steps
    ]
    same = [m.values == (1.0,) for m in results.measurements if m.demo == names.SAME_WEIGHTS]
    return Table(
        [
            say("step"),
            say("images per device"),
            say("t1, ms"),
            say("t2, ms"),
            say("predicted, ms"),
            say("measured, ms (IQR)"),
            say("off by"),
        ],
        rows,
        say(
            "Medians over the starts, and the width of their middle half (IQR). After {same} of {n}"
            " steps all processes had the weights of replicas in one process.",
            same=sum(same),
            n=len(same),
        ),
    )


def _notes_batch_table(results: Results) -> Table:
    rows = []
    for net, title in TITLES.items():
        demo = names.at_notes_batch(net)
        for name in results.arms(demo):
            [m] = results.series(demo, name)
            rows.append(
                [f"{title}, {name}", f"{m.x:.0f}", f"{m.summary.median:.4g} ({m.summary.iqr:.2g})"]
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
    n = m[names.WORLD_SIZE]
    links = {names.SHARED: say("shared by all ranks"), names.OWN: say("each rank's own")}
    rows = [
        [
            names.step(TITLES[net], allreduce),
            f"{predictor.t2_ms(results, net, allreduce):.2f}",
            f"{predictor.crossing(results, net, allreduce, n):.0f}",
        ]
        for net in TITLES
        for allreduce in names.ALLREDUCES
    ]
    return Table(
        [say("way to sum"), say("t2, ms"), say("t1 > t2 from this batch on")],
        rows,
        say(
            "Over {n} devices, whose link is taken to be {link}; 0: from the first image on.",
            n=n,
            link=links[m[names.LINK]],
        ),
    )


def _draw_steps(steps: Sequence[ComparedStep], m: Mapping[str, Any], path: Path) -> None:
    virtual = ", virtual devices" if m["device_kind"] == "cpu-virtual" else ""
    every = [t for s in steps for t in (s.predicted, s.measured.summary.median)]
    low, high = min(every) / 1.3, max(every) * 1.3
    with figures.figure(path, 9, 4.6) as fig:
        axes = fig.add_subplot(xscale="log", yscale="log", xlim=(low, high), ylim=(low, high))
        axes.set(
            xlabel=f"predicted, ms per step ({m[names.WORLD_SIZE]} devices{virtual})",
            ylabel="measured, ms per step",
        )
        axes.plot([low, high], [low, high], color=figures.INK, linewidth=0.8)
        axes.fill_between(
            [low, high],
            [low / 1.1, high / 1.1],
            [low * 1.1, high * 1.1],
            color=figures.FAINT,
            alpha=0.2,
            linewidth=0,
        )
        allreduces = list(dict.fromkeys(s.allreduce for s in steps))
        for i, allreduce in enumerate(allreduces):
            for net, marker in zip(TITLES, "os", strict=True):
                same = [s for s in steps if (s.net, s.allreduce) == (net, allreduce)]
                medians = [s.measured.summary.median for s in same]
                spread = [
                    [y - s.measured.summary.q1 for s, y in zip(same, medians, strict=True)],
                    [s.measured.summary.q3 - y for s, y in zip(same, medians, strict=True)],
                ]
                x = [s.predicted for s in same]
                axes.errorbar(
                    x,
                    medians,
                    spread,
                    fmt=marker,
                    color=figures.COLOURS[i],
                    markersize=5,
                    linewidth=1,
                )
            axes.text(
                1.03, 0.95 - 0.08 * i, allreduce, color=figures.COLOURS[i], transform=axes.transAxes
            )
        for i, (marker, title) in enumerate(zip("●■", TITLES.values(), strict=True)):
            axes.text(1.03, 0.5 - 0.08 * i, f"{marker} {title}", transform=axes.transAxes)
        figures.plain_ticks(axes.xaxis)
        figures.plain_ticks(axes.yaxis)


def _draw_simulated(results: Results, path: Path) -> None:
    with figures.figure(path, 11, 6.4) as fig:
        panels = fig.subplots(2, 2, sharex=True)
        for row, (net, title) in zip(panels, TITLES.items(), strict=True):
            for axes, demo, what in zip(
                row,
                (names.STRONG, names.WEAK),
                ("times as fast", "share of the ideal"),
                strict=True,
            ):
                curves = []
                for link in results.arms(names.simulated(demo, net)):
                    series = results.series(names.simulated(demo, net), link)
                    curves.append(
                        line("", link, [m.x for m in series], [m.values[0] for m in series])
                    )
                axes.set(xscale="log", title=f"{title}, {demo}: {what} (simulated)")
                axes.set_xscale("log", base=2)
                axes.set_xticks(TICKS, map(str, TICKS))
                if demo == names.STRONG:
                    axes.set_yscale("log", base=2)
                    axes.set_yticks(TICKS, map(str, TICKS))
                    axes.plot([1, 1024], [1, 1024], color=figures.FAINT, linestyle=(0, (1, 2)))
                else:
                    axes.set_ylim(0, 1.05)
                figures.draw_curves(axes, curves, labels=demo == names.WEAK)
        for axes in panels[1]:
            axes.set_xlabel("devices")
