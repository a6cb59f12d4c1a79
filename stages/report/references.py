"""The report's section that puts this machine beside others: the references in
reports/reference.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from lab.core.errors import LabError
from lab.core.files import read_json
from lab.report import figures
from lab.report.language import say
from lab.report.page import Figure, Section, Table
from lab.tools.references import metrics_of

HEADLINES = (  # ratios, which compare across machines where times do not
    ("bench_hardware", "vectorised_speedup", "one call over a Python loop"),
    ("bench_compile", "book_torchscript_over_eager", "TorchScript over eager"),
    ("bench_compile", "torchcompile_speedup", "torch.compile over eager"),
    ("bench_parallel", "speedup", "two devices together over in turn"),
    ("bench_overlap", "speedup", "copying beside computing over in turn"),
    ("bench_input", "resident_over_book", "resident bytes over the book's loader"),
    ("bench_training", "lenet_fp32_speedup", "LeNet, engine over the notes' way"),
    ("bench_training", "resnet18_fp32_speedup", "ResNet-18, engine over the notes' way"),
    ("bench_training", "resnet18_bf16_speedup", "ResNet-18, bf16 over fp32"),
    ("bench_training", "lenet_2workers_speedup", "LeNet, two ddp workers over one"),
    ("bench_collectives", "lenet_bucket_speedup", "LeNet's gradients, one bucket over per tensor"),
)
Metrics = Mapping[str, Mapping[str, Any]]  # by the stage's folder under reports


@dataclass(frozen=True)
class Machine:
    """A machine by name, its hardware in few words, and what it measured."""

    name: str
    hardware: str
    metrics: Metrics

    def ratio(self, stage: str, name: str) -> tuple[float, float, float] | None:
        """Return a ratio with the ends of its interval, None where it was not measured."""
        found = [self.metrics.get(stage, {}).get(f"{name}{end}") for end in ("", "_low", "_high")]
        numbers = [n for n in found if isinstance(n, int | float) and n > 0]
        return (numbers[0], numbers[1], numbers[2]) if len(numbers) == 3 else None


def section(reports: Path) -> Section:
    """Return the section of `reports`, this machine's results and those under reference/."""
    here = Machine(
        say("this machine"),
        _hardware(read_json(reports / "hardware.json")),
        _metrics_under(reports),
    )
    others = [
        machine
        for path in sorted((reports / "reference").glob("*.json"))
        if (machine := _reference(path))
    ]
    machines = [here, *others]
    known = ", ".join(f"{machine.name} ({machine.hardware})" for machine in others)
    return Section(
        stage="references",
        title=say("This machine beside others"),
        book="12, 13",
        question=say("Do other machines find the same ratios?"),
        findings=[
            say(
                "Ratios compare across machines; times do not. Beside this machine: {known}.",
                known=known,
            )
            if others
            else say(
                "No reference yet: `invoke snapshot NAME` keeps this machine's results as one."
            )
        ],
        figures=[
            Figure(
                "references",
                say("Ratios of the benchmarks on this machine and on the reference machines."),
                say(
                    "Dots are medians with their 99 % intervals, diamonds the references. Right of"
                    " the line the"
                    " first named is faster."
                ),
                partial(_draw, machines),
            )
        ],
        tables=[_table(machines)],
    )


def _metrics_under(reports: Path) -> Metrics:
    found = {}
    for stage in dict.fromkeys(stage for stage, _, _ in HEADLINES):
        try:
            found[stage] = read_json(reports / stage / "metrics.json")
        except LabError:
            continue
    return found


def _reference(path: Path) -> Machine | None:
    """Return a reference; None for a file that is none."""
    try:
        document = read_json(path)
        return Machine(str(document["name"]), _hardware(document["hardware"]), metrics_of(document))
    except (LabError, LookupError, TypeError, AttributeError):
        return None


def _hardware(facts: Mapping[str, Any]) -> str:
    names = facts["accelerator"]["names"]
    if names:
        return ", ".join(map(str, names))
    return say(
        "{cpu}, {cores} cores, no GPU",
        cpu=facts["cpu"]["model"],
        cores=facts["cpu"]["usable_cores"],
    )


def _table(machines: Sequence[Machine]) -> Table:
    def cell(machine: Machine, stage: str, name: str) -> str:
        found = machine.ratio(stage, name)
        if not found:
            return "–"
        return say(
            "{median:.3g}x ({low:.3g} to {high:.3g})", median=found[0], low=found[1], high=found[2]
        )

    rows = [
        [text, *(cell(machine, stage, name) for machine in machines)]
        for stage, name, text in HEADLINES
    ]
    return Table(
        ["", *(machine.name for machine in machines)],
        rows,
        say("Each ratio is of one run on that machine; its profile may be another."),
    )


def _draw(machines: Sequence[Machine], path: Path) -> None:
    with figures.figure(path, 11, 4.6) as fig:
        axes = fig.add_subplot(xscale="log")
        axes.set_title("Ratios, with 99 % intervals (times)")
        for m, machine in enumerate(machines):
            colour, shift = figures.COLOURS[m % len(figures.COLOURS)], 0.18 * m
            for row, (stage, name, _) in enumerate(HEADLINES):
                if found := machine.ratio(stage, name):
                    median, low, high = found
                    axes.errorbar(
                        median,
                        row + shift,
                        xerr=[[max(0, median - low)], [max(0, high - median)]],
                        fmt="D" if m else "o",
                        color=colour,
                        markersize=5,
                    )
            label = "this machine" if m == 0 else machine.name
            axes.text(1.02, 0.95 - 0.07 * m, label, color=colour, transform=axes.transAxes)
        axes.axvline(1, color=figures.FAINT, linestyle="--", linewidth=1)
        axes.set_yticks(range(len(HEADLINES)), [text for _, _, text in HEADLINES])
        axes.invert_yaxis()
        figures.plain_ticks(axes.xaxis)
