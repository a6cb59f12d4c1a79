"""The report's section on whole runs of this machine: do their verdicts agree?"""

from collections.abc import Sequence
from pathlib import Path

from lab.claims.agreement import AIM_PERCENT, Agreement, agreement_of
from lab.claims.verdicts import Finding
from lab.report.language import say, translation
from lab.report.page import Link, Section, Table
from lab.report.verdicts import verdict_and_number
from lab.tools import retest


def section(folder: Path) -> Section:
    """The section of `folder` (reports/retest), the runs that are kept there."""
    runs = retest.runs(folder)
    found = agreement_of(runs)
    return Section(
        stage="retest",
        title=say("The same verdicts another time?"),
        book="12, 13",
        question=say("Do whole runs of this machine, from fresh starts, agree with each other?"),
        answer=_answer(found),
        findings=_findings(found),
        figures=[],
        tables=[_apart(runs, found)] if found.apart else [],
    )


def _answer(found: Agreement) -> str:
    if not found.pairs:
        return say(
            "{n} run(s) kept: “invoke retest” measures everything again and adds one.",
            n=found.num_runs,
        )
    return say(
        "Of {pairs} pairs of effects from {n} whole runs, {percent:.1f} % agree (aim: {aim} %).",
        pairs=len(found.pairs),
        n=found.num_runs,
        percent=found.percent,
        aim=AIM_PERCENT,
    )


def _findings(found: Agreement) -> list[str]:
    if not found.pairs:
        return []
    return [
        say("Two effects agree if 0 lies in the interval of their difference."),
        say(
            "Claims that one run confirms and another refutes: {against}.",
            against=", ".join(found.contradicted) or say("none"),
        ),
    ]


def _apart(runs: Sequence[Sequence[Finding]], found: Agreement) -> Table:
    """The claims on which two runs differ by more than their intervals explain."""
    by_run = [{f.claim.id: f for f in run} for run in runs]
    rows: list[list[str | Link]] = []
    for name in found.apart:
        claim = next(run[name].claim for run in by_run if name in run)
        cells = [verdict_and_number(run.get(name)) for run in by_run]
        rows.append([name, translation(claim.says), *cells])
    header = ["", say("claim"), *(say("run {n}", n=n) for n in range(1, len(runs) + 1))]
    note = say("Claims whose effects differ by more than the intervals explain.")
    return Table(header, rows, note, prose=True)
