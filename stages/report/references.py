"""The report's section that puts this machine beside the references in reports/reference.

Each stage offers the ratios to compare: `HEADLINES` of its section.py, their labels by metric.
"""

import functools
import importlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from lab.claims.book_order import BOOK_ORDER
from lab.claims.ledger import ledger
from lab.claims.verdicts import Finding, findings_of
from lab.core.errors import LabError
from lab.core.files import read_json, read_rows
from lab.report import figures
from lab.report.benchmarks import ratio_text
from lab.report.language import say, translation
from lab.report.page import Figure, Section, Table
from lab.report.verdicts import verdict_and_number
from lab.results.stats import Ratio
from lab.tools.references import metrics_of
from stages.report.translated_svg import in_translation

Metrics = Mapping[str, Mapping[str, Any]]  # by the stage's folder under reports


@dataclass(frozen=True)
class Headline:
    """A stage's ratio that compares across machines, as times do not, and its label."""

    stage: str
    metric: str
    label: str


@functools.cache
def headlines() -> tuple[Headline, ...]:
    """What the stages offer, in the book's order."""
    sections = {stage: importlib.import_module(f"stages.{stage}.section") for stage in BOOK_ORDER}
    return tuple(
        Headline(stage, metric, label)
        for stage, module in sections.items()
        for metric, label in getattr(module, "HEADLINES", {}).items()
    )


@dataclass(frozen=True)
class Machine:
    """A machine by name, its hardware in few words, what it measured, and its verdicts by claim."""

    name: str
    hardware: str
    metrics: Metrics
    findings: Mapping[str, Finding]

    def ratio(self, headline: Headline) -> Ratio | None:
        """A ratio with its interval, None where it was not measured."""
        metrics, name = self.metrics.get(headline.stage, {}), headline.metric
        found = [metrics.get(key) for key in (name, f"{name}_low", f"{name}_high", "starts")]
        match [n for n in found if isinstance(n, int | float) and n > 0]:
            case [median, low, high, starts]:
                return Ratio(median, low, high, int(starts))
        return None


def section(reports: Path) -> Section:
    """The section of `reports`, this machine's results and those under reference/."""
    here = Machine(
        say("this machine"),
        _hardware(read_json(reports / "hardware.json")),
        _metrics_under(reports),
        _findings_under(reports),
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
                    "Dots are medians with their intervals over starts, diamonds the references."
                    " Right of the line the first named is faster."
                ),
                partial(_draw, machines),
            )
        ],
        tables=[_table(machines), *_other_verdicts(machines)],
    )


def _metrics_under(reports: Path) -> Metrics:
    found = {}
    for stage in dict.fromkeys(headline.stage for headline in headlines()):
        try:
            found[stage] = read_json(reports / stage / "metrics.json")
        except LabError:
            continue
    return found


def _reference(path: Path) -> Machine | None:
    """A reference; None for a file that is none."""
    try:
        document = read_json(path)
        findings = _by_id(document.get("claims", []))
        name = say("{name}, profile {profile}", name=document["name"], profile=document["profile"])
        return Machine(name, _hardware(document["hardware"]), metrics_of(document), findings)
    except (LabError, LookupError, TypeError, ValueError, AttributeError):
        return None


def _findings_under(reports: Path) -> Mapping[str, Finding]:
    try:
        return _by_id(read_rows(reports / "claims" / "rows.csv"))
    except (LabError, LookupError, TypeError, ValueError):
        return {}


def _by_id(rows: Sequence[Mapping[str, Any]]) -> dict[str, Finding]:
    return {f.claim.id: f for f in findings_of(rows, ledger())}


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
    def cell(machine: Machine, headline: Headline) -> str:
        found = machine.ratio(headline)
        return ratio_text(found) if found else "–"

    rows = [
        [in_translation(h.label), *(cell(machine, h) for machine in machines)] for h in headlines()
    ]
    return Table(
        ["", *(machine.name for machine in machines)],
        rows,
        say("Each ratio is of one run on that machine; its profile may be another."),
    )


def _other_verdicts(machines: Sequence[Machine]) -> list[Table]:
    """The claims that another machine, or a longer run, decides otherwise than this one."""
    rows = []
    for claim in ledger():
        found = [machine.findings.get(claim.id) for machine in machines]
        if len({f.verdict for f in found if f}) > 1:
            rows.append([claim.id, translation(claim.says), *map(verdict_and_number, found)])
    if not rows:
        return []
    note = say("Claims whose verdict is another on another machine, or in a longer run.")
    return [Table(["", say("claim"), *(m.name for m in machines)], rows, note)]


def _draw(machines: Sequence[Machine], path: Path) -> None:
    with figures.figure(path, 11, 4.6) as fig:
        axes = fig.add_subplot(xscale="log")
        axes.set_title("Ratios, with their intervals over starts (times)")
        for m, machine in enumerate(machines):
            colour, shift = figures.COLOURS[m % len(figures.COLOURS)], 0.18 * m
            for row, headline in enumerate(headlines()):
                if found := machine.ratio(headline):
                    below, above = found.median - found.low, found.high - found.median
                    axes.errorbar(
                        found.median,
                        row + shift,
                        xerr=[[max(0, below)], [max(0, above)]],
                        fmt="D" if m else "o",
                        color=colour,
                        markersize=5,
                    )
            label = "this machine" if m == 0 else machine.name
            axes.text(1.02, 0.95 - 0.07 * m, label, color=colour, transform=axes.transAxes)
        axes.axvline(1, color=figures.FAINT, linestyle="--", linewidth=1)
        axes.set_yticks(range(len(headlines())), [headline.label for headline in headlines()])
        axes.invert_yaxis()
        figures.plain_ticks(axes.xaxis)
