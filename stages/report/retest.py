"""The report's section on whole runs of this machine: do their verdicts agree?"""

from collections.abc import Sequence
from pathlib import Path

from lab.claims.agreement import Pair, pairs_of
from lab.claims.verdicts import Finding
from lab.report.language import say, translation
from lab.report.page import Link, Section, Table
from lab.report.verdicts import SYMBOLS, interval_of
from lab.tools import retest

AIM_PERCENT = 97


def section(folder: Path) -> Section:
    """The section of `folder` (reports/retest), the runs that are kept there."""
    found = retest.runs(folder)
    pairs = pairs_of(found)
    return Section(
        stage="retest",
        title=say("The same verdicts another time?"),
        book="12, 13",
        question=say("Do whole runs of this machine, from fresh starts, agree with each other?"),
        findings=[_agreement(len(found), pairs)],
        figures=[],
        tables=[_apart(found, pairs)] if any(not p.agrees for p in pairs) else [],
    )


def _agreement(count: int, pairs: Sequence[Pair]) -> str:
    if not pairs:
        return say(
            "{n} run(s) kept: `invoke retest` measures everything anew and adds one.", n=count
        )
    percent = 100 * sum(pair.agrees for pair in pairs) / len(pairs)
    against = {pair.one.claim.id for pair in pairs if pair.contradicts}
    return say(
        "Of {pairs} pairs of effects from {n} runs, {percent:.1f} % differ by no more than their"
        " intervals explain (0 lies in the interval of the difference; aim: {aim} %). Claims that"
        " one run confirms and another refutes: {against}.",
        pairs=len(pairs),
        n=count,
        percent=percent,
        aim=AIM_PERCENT,
        against=", ".join(sorted(against)) or say("none"),
    )


def _apart(runs: Sequence[Sequence[Finding]], pairs: Sequence[Pair]) -> Table:
    """The claims on which two runs differ by more than their intervals explain."""
    ids = dict.fromkeys(pair.one.claim.id for pair in pairs if not pair.agrees)
    by_run = [{f.claim.id: f for f in run} for run in runs]

    def cell(finding: Finding | None) -> str:
        if finding is None or finding.estimate is None:
            return "–"
        return f"{SYMBOLS[finding.verdict]} {interval_of(finding.estimate)}"

    rows: list[list[str | Link]] = []
    for name in ids:
        claim = next(run[name].claim for run in by_run if name in run)
        rows.append([name, translation(claim.says), *(cell(run.get(name)) for run in by_run)])
    header = ["", say("claim"), *(say("run {n}", n=n) for n in range(1, len(runs) + 1))]
    return Table(
        header, rows, say("Claims whose effects differ by more than the intervals explain.")
    )
