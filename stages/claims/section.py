"""The report's first section: which of the notes' claims hold on this machine."""

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from lab.claims.ledger import ledger
from lab.claims.rules import Verdict
from lab.claims.verdicts import Finding, findings_of, most_surprising
from lab.core.files import read_rows
from lab.report.language import say, translation
from lab.report.page import Link, Section, Table
from lab.report.verdicts import SYMBOLS, effect_of, in_words, range_in_words

NUM_SURPRISES = 3


def section(folder: Path) -> Section:
    """The section that `folder` (reports/claims) is told in."""
    findings = findings_of(read_rows(folder / "rows.csv"), ledger())
    return Section(
        stage="claims",
        title=say("The notes' claims, tested here"),
        book="12, 13",
        question=say("Which sentences of the notes hold on this machine?"),
        findings=[
            _counts(findings),
            *map(_surprise, most_surprising(findings, NUM_SURPRISES)),
            *_missing(findings),
        ],
        figures=[],
        tables=[_table(findings)],
    )


def _counts(findings: Sequence[Finding]) -> str:
    count = Counter(f.verdict for f in findings)
    counts = [
        say(
            "{n} {verdict} {symbol}",
            n=count[verdict],
            verdict=in_words(verdict),
            symbol=SYMBOLS[verdict],
        )
        for verdict in Verdict
    ]
    return say(
        "Of {total} claims: {counts}. Below stand the refuted claims that lie furthest off,"
        " measured by the factor between the number found and the nearest one that would do, one"
        " of each stage.",
        total=len(findings),
        counts=say(", ").join(counts),
    )


def _surprise(finding: Finding) -> str:
    claim = finding.claim
    return say(
        "{symbol} {id}, note {note}: “{claim}” {measured} Found: {effect}; the claim holds for"
        " {range}.",
        symbol=SYMBOLS[finding.verdict],
        id=claim.id,
        note=claim.note,
        claim=translation(claim.says),
        measured=translation(claim.measured),
        effect=effect_of(finding),
        range=range_in_words(claim.rule.holds),
    )


def _missing(findings: Sequence[Finding]) -> list[str]:
    """The sentence that says what testing the rest would take, if there is a rest."""
    wants = Counter(f.claim.wants for f in findings if f.verdict is Verdict.NOT_TESTABLE)
    parts = [
        say(
            "{n} for lack of {what}",
            n=n,
            what=say(" and ").join(translation(w) for w in want) or say("results"),
        )
        for want, n in wants.items()
    ]
    wanted = say(", ").join(parts)
    return (
        [say("Not testable here: {wanted}; each with its reason below.", wanted=wanted)]
        if parts
        else []
    )


def _table(findings: Sequence[Finding]) -> Table:
    rows: list[list[str | Link]] = [
        [
            f.claim.id,
            f.claim.section,
            translation(f.claim.says),
            f"{SYMBOLS[f.verdict]} {in_words(f.verdict)}",
            say(
                "{effect}. {measured}", effect=effect_of(f), measured=translation(f.claim.measured)
            ),
            range_in_words(f.claim.rule.holds),
            Link(f.claim.stage),
        ]
        for f in findings
    ]
    return Table(
        [
            "",
            say("book"),
            say("claim"),
            say("verdict"),
            say("found, and what it is"),
            say("holds for"),
            say("stage"),
        ],
        rows,
        say(
            "Confirmed: the whole interval lies in the range that the claim's words ask for;"
            " refuted: the whole of it lies outside; inconclusive: it lies across an end. Numbers"
            " without an interval are deterministic, or of one run. Virtual devices never confirm"
            " a claim about GPUs."
        ),
        prose=True,
    )
