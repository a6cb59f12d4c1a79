"""The report's section on steps of several devices (13.5, 13.7): foretold from their parts, then
measured.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from lab.report import benchmarks, figures
from lab.report.language import say
from lab.report.page import Figure, Section, Table, TryThis
from lab.results.curves import key, line
from lab.results.measurements import Measurement, Results

TITLES = {"lenet": "LeNet", "resnet18": "ResNet-18"}
GOOD_PERCENT = 10  # mean error up to which the parts count as foretelling the whole


@dataclass(frozen=True)
class Step:
    """A held-out step: what was foretold of it, in milliseconds, and its measurement."""

    net: str
    way: str
    measured: Measurement
    t1: float
    t2: float

    @property
    def error(self) -> float:
        """Return by how much of the measured median t1 + t2 is off; below zero, it was foretold too
        short.
        """
        return (self.t1 + self.t2) / self.measured.summary.median - 1


def section(folder: Path) -> Section:
    """Return the section of `folder` (reports/scaling)."""
    results, m = benchmarks.read(folder)
    steps = steps_of(results)
    return Section(
        stage="scaling",
        title=say("A step on several devices, foretold and measured"),
        book="13.5, 13.7",
        question=say("How long does a step take on several devices, and do its parts foretell it?"),
        findings=[*_findings(steps, m), benchmarks.trust(m), *benchmarks.skipped(results)],
        figures=[
            Figure(
                "scaling_foretold",
                say(
                    "Measured time of each step against the time foretold for it, on logarithmic"
                    " axes."
                ),
                say(
                    "Foretold from steps without communication and from single messages, and"
                    " written down before"
                    " the steps were measured. Dots are medians with the middle half of the"
                    " samples; on the line"
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
                    " ring in one bucket"
                    " after the backward pass. Strong: one batch of 8192 images over all. Weak:"
                    " 256 images on each."
                ),
                partial(_draw_simulated, results),
            ),
        ],
        tables=[_steps_table(steps), _crossing_table(m)],
        try_this=TryThis(
            "scaling.lenet.heldout_images", "[1, 2, 512]", say("see where the parts foretell least")
        ),
    )


def steps_of(results: Results) -> list[Step]:
    """Return the held-out steps that rows hold."""
    found = []
    for arm in results.arms("measured"):
        for m in results.series("measured", arm):
            t1, t2 = (
                one.values[0] for demo in ("t1", "t2") if (one := results.one(demo, arm, m.x))
            )
            net, _, way = arm.partition(", ")
            found.append(Step(net, way, m, t1, t2))
    return found


def _findings(steps: Sequence[Step], m: Mapping[str, Any]) -> list[str]:
    waits = [m[name] for name in m if name.endswith("_wait_ms")]
    late = say(
        "The first message after computing is {shortest:.2g} to {longest:.2g} ms late, by"
        " algorithm, for its takers"
        " have to be woken; messages that follow one another are not. A link that is measured with"
        " messages alone"
        " does not show it.",
        shortest=min(waits),
        longest=max(waits),
    )
    return [_sum_rule(steps, m), _max_rule(m), late, *(_crossing(m, net) for net in TITLES)]


def _sum_rule(steps: Sequence[Step], m: Mapping[str, Any]) -> str:
    """Return how well t1 + t2 foretold the steps, and which it missed most."""
    worst = max(steps, key=lambda step: abs(step.error))
    judged = say("foretell") if m["mean_error_percent"] <= GOOD_PERCENT else say("do not foretell")
    return say(
        "The parts {judged} the {n} steps that they had not seen: t1 + t2 is off by {mean:.1f} %"
        " in the mean and"
        " {most:.1f} % at most. The largest miss is {net}, {way}, {images:.0f} images on each"
        " device: foretold"
        " {error:.0f} % {direction}, with {share:.0f} % of the time foretold for communication.",
        judged=judged,
        n=m["heldout_configurations"],
        mean=m["mean_error_percent"],
        most=m["max_error_percent"],
        net=TITLES[worst.net],
        way=worst.way,
        images=worst.measured.x,
        error=abs(100 * worst.error),
        direction=say("too short") if worst.error < 0 else say("too long"),
        share=100 * worst.t2 / (worst.t1 + worst.t2),
    )


def _max_rule(m: Mapping[str, Any]) -> str:
    """Return how well the notes' rule foretold the steps, and what that says of overlap."""
    error = m["max_rule_mean_error_percent"]
    if m["mean_error_percent"] < error:
        return say(
            "The notes' max(t1, t2) is off by {error:.1f} % in the mean: it takes computing and"
            " communicating to"
            " overlap, and code that sums after the backward pass, the notes' own included, does"
            " one after the"
            " other.",
            error=error,
        )
    return say(
        "The notes' max(t1, t2) is off by {error:.1f} % in the mean: nearer than the sum, so here"
        " the two do"
        " overlap.",
        error=error,
    )


def _crossing(m: Mapping[str, Any], net: str) -> str:
    """Return from which batch on a net computes for longer than it communicates, in two ways to
    sum.
    """
    star, ring = (
        m[f"{net}_{key(way)}_crossing_batch"] for way in ("star, per tensor", "ring, one bucket")
    )
    return say(
        "{net} computes for longer than it communicates (t1 > t2) from {star} on in the notes'"
        " way, and from {ring}"
        " on by ring in one bucket, over {n} devices.",
        net=TITLES[net],
        star=_images(star),
        ring=_images(ring),
        n=m["world_size"],
    )


def _images(batch_size: float) -> str:
    return say("the first image") if batch_size <= 1 else say("a batch of {n:.0f}", n=batch_size)


def _steps_table(steps: Sequence[Step]) -> Table:
    rows = [
        [
            f"{TITLES[s.net]}, {s.way}",
            f"{s.measured.x:.0f}",
            f"{s.t1:.2f}",
            f"{s.t2:.2f}",
            f"{s.t1 + s.t2:.2f}",
            f"{s.measured.summary.median:.2f} ({s.measured.summary.iqr:.2f})",
            f"{100 * s.error:+.1f} %",
        ]
        for s in steps
    ]
    return Table(
        [
            say("step"),
            say("images per device"),
            say("t1, ms"),
            say("t2, ms"),
            say("foretold, ms"),
            say("measured, ms (IQR)"),
            say("off by"),
        ],
        rows,
        say(
            "All replicas had the same weights after each step. Written before the measurement:"
            " {file}.",
            file="reports/scaling/predictions.csv",
        ),
    )


def _crossing_table(m: Mapping[str, Any]) -> Table:
    ways = [name for name in m if name.endswith("_crossing_batch")]
    links = {
        "shared by all ranks": say("shared by all ranks"),
        "each rank's own": say("each rank's own"),
    }
    rows = []
    for name in ways:
        net, _, way = name.removesuffix("_crossing_batch").partition("_")
        rows.append(
            [
                f"{TITLES[net]}, {way.replace('_', ' ')}",
                f"{m[f'{net}_{way}_t2_ms']:.2f}",
                f"{m[name]:.0f}",
            ]
        )
    return Table(
        [say("way to sum"), say("t2, ms"), say("t1 > t2 from this batch on")],
        rows,
        say(
            "Over {n} devices, whose link is taken to be {link}; 0: from the first image on.",
            n=m["world_size"],
            link=links[m["link"]],
        ),
    )


def _draw_steps(steps: Sequence[Step], m: Mapping[str, Any], path: Path) -> None:
    virtual = ", virtual devices" if m["device_kind"] == "cpu-virtual" else ""
    every = [t for s in steps for t in (s.t1 + s.t2, s.measured.summary.median)]
    low, high = min(every) / 1.3, max(every) * 1.3
    with figures.figure(path, 9, 4.6) as fig:
        axes = fig.add_subplot(xscale="log", yscale="log", xlim=(low, high), ylim=(low, high))
        axes.set(
            xlabel=f"foretold, ms per step ({m['world_size']} devices{virtual})",
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
        ways = list(dict.fromkeys(s.way for s in steps))
        for i, way in enumerate(ways):
            for net, marker in zip(TITLES, "os", strict=True):
                of_way = [s for s in steps if (s.net, s.way) == (net, way)]
                medians = [s.measured.summary.median for s in of_way]
                spread = [
                    [y - s.measured.summary.q1 for s, y in zip(of_way, medians, strict=True)],
                    [s.measured.summary.q3 - y for s, y in zip(of_way, medians, strict=True)],
                ]
                x = [s.t1 + s.t2 for s in of_way]
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
                1.03, 0.95 - 0.08 * i, way, color=figures.COLOURS[i], transform=axes.transAxes
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
                row, ("strong", "weak"), ("times as fast", "share of the ideal"), strict=True
            ):
                curves = []
                for link in results.arms(f"{demo}, {net}"):
                    series = results.series(f"{demo}, {net}", link)
                    curves.append(
                        line("", link, [m.x for m in series], [m.values[0] for m in series])
                    )
                axes.set(xscale="log", title=f"{title}, {demo}: {what} (simulated)")
                axes.set_xscale("log", base=2)
                axes.set_xticks([1, 4, 16, 64, 256, 1024], ["1", "4", "16", "64", "256", "1024"])
                if demo == "strong":
                    axes.set_yscale("log", base=2)
                    axes.set_yticks(
                        [1, 4, 16, 64, 256, 1024], ["1", "4", "16", "64", "256", "1024"]
                    )
                    axes.plot([1, 1024], [1, 1024], color=figures.FAINT, linestyle=(0, (1, 2)))
                else:
                    axes.set_ylim(0, 1.05)
                figures.draw_curves(axes, curves, labels=demo == "weak")
        for axes in panels[1]:
            axes.set_xlabel("devices")
