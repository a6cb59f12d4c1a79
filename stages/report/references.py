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
from lab.core.errors import DataError, LabError
from lab.core.files import read_rows
from lab.report import figures
from lab.report.benchmarks import ratio_text, undecided
from lab.report.language import say, translation
from lab.report.page import Figure, Section, Table
from lab.report.verdicts import verdict_and_number
from lab.results.documents import bring_back, read_hardware, read_metrics
from lab.results.stats import Ratio
from lab.tools.profiles import OWN_PARAMS
from lab.tools.references import metrics_of, read_reference

Metrics = Mapping[str, Mapping[str, Any]]  # by the stage's folder under reports

MARKERS = "oDs^vP"  # of the machines, this one first


@dataclass(frozen=True)
class Headline:
    """A stage's ratio that compares across machines, as times do not, and its label."""

    stage: str
    metric: str
    label: str


@functools.cache
def headlines() -> tuple[Headline, ...]:
    """What the stages offer, in the book's order."""
    sections = {
        stage: importlib.import_module(f"stages.{stage}.page.section") for stage in BOOK_ORDER
    }
    return tuple(
        Headline(stage, metric, label)
        for stage, module in sections.items()
        for metric, label in getattr(module, "HEADLINES", {}).items()
    )


@dataclass(frozen=True)
class Machine:
    """A machine by name, its hardware and profile in few words, its metrics, verdicts by claim."""

    name: str
    hardware: str
    metrics: Metrics
    findings: Mapping[str, Finding]

    def ratio(self, headline: Headline) -> Ratio | None:
        """A ratio with its interval, None where it was not measured or decides nothing."""
        metrics, name = self.metrics.get(headline.stage, {}), headline.metric
        if undecided(metrics, headline.stage):
            return None
        found = [metrics.get(key) for key in (name, f"{name}_low", f"{name}_high", "starts")]
        match [n for n in found if isinstance(n, int | float) and n > 0]:
            case [median, low, high, starts]:
                return Ratio(median, low, high, int(starts))
        return None


def section(reports: Path) -> Section:
    """The section of `reports`, this machine's results and those under reference/."""
    here, others = _here(reports), references_in(reports)
    machines = [here, *others]
    shown = [h for h in headlines() if any(_differ(h, here, other) for other in others)]
    return Section(
        stage="references",
        title=say("This machine beside others"),
        book="12, 13",
        question=say("Do other machines find the same ratios?"),
        answer=_answer(machines, shown),
        findings=[say("Left out: {problem}.", problem=each) for each in damaged_in(reports)],
        figures=_figures(machines, shown) if others else [],
        tables=[_table(machines, shown), *_other_verdicts(machines)] if others else [],
    )


def references_in(reports: Path) -> list[Machine]:
    """The references that have other ratios than `reports`: not a snapshot of these very results.

    Where there are none, there is nothing to compare with.
    """
    here, (found, _) = _here(reports), _read_all(reports)
    return [each for each in found if any(_differ(h, here, each) for h in headlines())]


def damaged_in(reports: Path) -> list[str]:
    """What is wrong with the files beside the references that are none."""
    return _read_all(reports)[1]


def _differ(headline: Headline, here: Machine, other: Machine) -> bool:
    """Whether another machine has the ratio, and not the very one that is measured here."""
    theirs = other.ratio(headline)
    return theirs is not None and theirs != here.ratio(headline)


def _answer(machines: Sequence[Machine], shown: Sequence[Headline]) -> str:
    """On how many ratios the machines agree which side is faster, among those that can tell."""
    if not shown:
        return say(
            "No other results yet: “invoke snapshot NAME” keeps this machine's as a reference."
        )
    found = [_verdicts(headline, machines) for headline in shown]
    compared = [verdicts for verdicts in found if len(verdicts) > 1]
    return say(
        "On {same} of {n} ratios, all machines that find a difference agree which side is faster.",
        n=len(compared),
        same=sum(len(set(verdicts)) == 1 for verdicts in compared),
    )


def _verdicts(headline: Headline, machines: Sequence[Machine]) -> list[str]:
    """Which side is faster, of the machines that can tell."""
    found = [ratio.verdict for machine in machines if (ratio := machine.ratio(headline))]
    return [verdict for verdict in found if verdict != "inconclusive"]


def _figures(machines: Sequence[Machine], shown: Sequence[Headline]) -> list[Figure]:
    caption = [
        say(
            "Marks: medians; lines: their intervals over starts. Right of the dashes the first"
            " named is faster."
        )
    ]
    caption += [
        say(
            "{reference}: {name} ({hardware}).",
            reference=_in_short(n),
            name=machine.name,
            hardware=machine.hardware,
        )
        for n, machine in enumerate(machines)
        if n
    ]
    return [
        Figure(
            "references",
            say("Ratios of the benchmarks on this machine and on others."),
            " ".join(caption),
            [partial(_draw, machines, shown)],
        )
    ]


def _in_short(n: int) -> str:
    """What the figure calls a machine: names of references are long."""
    return say("reference {n}", n=n) if n else say("this machine")


def _here(reports: Path) -> Machine:
    return Machine(
        say("this machine"),
        _hardware(read_hardware(reports / "hardware.json")),
        _metrics_under(reports),
        _findings_under(reports),
    )


def _metrics_under(reports: Path) -> Metrics:
    found = {}
    for stage in dict.fromkeys(headline.stage for headline in headlines()):
        try:
            found[stage] = read_metrics(reports / stage)
        except LabError:
            continue
    return found


def _read_all(reports: Path) -> tuple[list[Machine], list[str]]:
    """The references, and what is wrong with those that are none."""
    found, damaged = [], []
    for path in sorted((reports / "reference").glob("*.json")):
        try:
            found.append(_reference(path))
        except LabError as error:
            damaged.append(str(error))
    return found, damaged


def _reference(path: Path) -> Machine:
    document = read_reference(path)
    try:
        findings = _by_id(document.get("claims", []))
    except (LookupError, TypeError, ValueError) as error:
        raise DataError(f"{path}: damaged (claims: {error}); {bring_back(path)}") from None
    hardware, profile = _hardware(document["hardware"]), document["profile"]
    about = (
        say("{hardware}; params of its own", hardware=hardware)
        if profile == OWN_PARAMS
        else say("{hardware}; profile {profile}", hardware=hardware, profile=profile)
    )
    return Machine(document["name"], about, metrics_of(document), findings)


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
        "{cpu}, {instructions}, {cores} cores, no GPU",
        cpu=facts["cpu"]["model"],
        instructions=facts["cpu"]["instructions"],
        cores=facts["cpu"]["usable_cores"],
    )


def _table(machines: Sequence[Machine], shown: Sequence[Headline]) -> Table:
    def cell(machine: Machine, headline: Headline) -> str:
        found = machine.ratio(headline)
        return ratio_text(found) if found else "–"

    rows = [[translation(h.label), *(cell(machine, h) for machine in machines)] for h in shown]
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
    return [Table(["", say("claim"), *(m.name for m in machines)], rows, note, prose=True)]


def _draw(machines: Sequence[Machine], shown: Sequence[Headline], path: Path) -> None:
    """Draw each ratio under its name, a mark for each machine."""
    step = 0.35 / max(1, len(machines) - 1)
    with figures.figure(path, figures.WIDTH, 1.2 + 0.46 * len(shown)) as fig:
        axes = fig.add_subplot(xscale="log", xlabel=say("times as fast"))
        for m, machine in enumerate(machines):
            mark = MARKERS[m % len(MARKERS)], figures.COLOURS[m % len(figures.COLOURS)]
            _draw_ratios(axes, [machine.ratio(h) for h in shown], step * m - 0.1, *mark)
            axes.plot([], [], mark[0], color=mark[1], label=_in_short(m))
        for row, headline in enumerate(shown):
            axes.plot(
                [1, 1], [row - 0.2, row + 0.35], "--", color=figures.FAINT, linewidth=1, zorder=1
            )
            axes.text(
                0.01, row - 0.3, translation(headline.label), transform=axes.get_yaxis_transform()
            )
        axes.set_ylim(len(shown) - 0.3, -0.9)
        axes.set_yticks([])
        axes.grid(visible=False)  # which would strike the names out
        figures.plain_ticks(axes.xaxis)
        figures.key(fig, axes, columns=1)


def _draw_ratios(
    axes: figures.Axes, ratios: Sequence[Ratio | None], shift: float, marker: str, colour: str
) -> None:
    for row, found in enumerate(ratios):
        if found:
            low, high = min(found.low, found.median), max(found.high, found.median)
            axes.plot([low, high], [row + shift] * 2, color=colour, linewidth=1.5)
            axes.plot(found.median, row + shift, marker, color=colour, markersize=5)
