"""The report's first section: which of the notes' claims hold on this machine."""

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from lab.claims.ledger import ledger, unmeasured
from lab.claims.rules import Verdict
from lab.claims.verdicts import (
    Finding,
    Kind,
    by_interval,
    false_verdicts,
    findings_of,
    most_surprising,
)
from lab.core.files import read_rows
from lab.report.language import say, translation
from lab.report.page import Link, Section, Table
from lab.report.verdicts import (
    SYMBOLS,
    effect_of,
    in_words,
    place_in_words,
    range_in_words,
    source_of,
)

NUM_SURPRISES = 3


def section(folder: Path) -> Section:
    """The section that `folder` (reports/claims) is told in."""
    findings = findings_of(read_rows(folder / "rows.csv"), ledger())
    of_the_notes = [f for f in findings if f.claim.kind is not Kind.ASKED]
    asked_here = [f for f in findings if f.claim.kind is Kind.ASKED]
    return Section(
        stage="claims",
        title=say("The notes' claims, tested here"),
        book="12, 13",
        question=say("Which sentences of the notes hold on this machine?"),
        findings=[
            _counts(of_the_notes, asked_here),
            _doubt(findings),
            *map(_surprise, most_surprising(of_the_notes, NUM_SURPRISES)),
            *_missing(findings),
        ],
        figures=[],
        tables=[
            _table(of_the_notes, _how_to_read()),
            *([_table(asked_here, _asked_here())] if asked_here else []),
            _not_measured(),
        ],
    )


def _counts(of_the_notes: Sequence[Finding], asked_here: Sequence[Finding]) -> str:
    return say(
        "Of {total} sentences and printed numbers of the notes: {counts}. Of {asked} questions of"
        " this lab's own: {asked_counts}. Below stand the refuted sentences of the notes that lie"
        " furthest off, measured by the factor between the number found and the nearest one that"
        " would do, one of each stage.",
        total=len(of_the_notes),
        counts=_by_verdict(of_the_notes),
        asked=len(asked_here),
        asked_counts=_by_verdict(asked_here),
    )


def _by_verdict(findings: Sequence[Finding]) -> str:
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
    return say(", ").join(counts)


def _doubt(findings: Sequence[Finding]) -> str:
    """How many verdicts to expect to be wrong by chance."""
    return say(
        "{n} of the verdicts rest on an interval. All of these together are expected to hold at"
        " most {false:.2g} false ones by chance: the sum of what each interval leaves out.",
        n=len(by_interval(findings)),
        false=false_verdicts(findings),
    )


def _surprise(finding: Finding) -> str:
    claim = finding.claim
    return say(
        "{symbol} {id}, {source}: “{claim}” {measured} Found: {effect}; the claim holds for"
        " {range}.",
        symbol=SYMBOLS[finding.verdict],
        id=claim.id,
        source=source_of(claim),
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


def _table(findings: Sequence[Finding], note: str) -> Table:
    rows: list[list[str | Link]] = [
        [
            f.claim.id,
            say("{claim} ({source})", claim=translation(f.claim.says), source=source_of(f.claim)),
            f"{SYMBOLS[f.verdict]} {in_words(f.verdict)}",
            say(
                "{effect}. {measured}", effect=effect_of(f), measured=translation(f.claim.measured)
            ),
            range_in_words(f.claim.rule.holds),
            Link(f.claim.stage),
        ]
        for f in findings
    ]
    header = [
        "",
        say("claim, and where it stands"),
        say("verdict"),
        say("found, and what it is"),
        say("holds for"),
        say("stage"),
    ]
    return Table(header, rows, note, prose=True)


def _how_to_read() -> str:
    return say(
        "Confirmed: the whole interval lies in the range that the claim's words ask for; refuted:"
        " the whole of it lies outside; inconclusive: it lies across an end, or holds the true"
        " median with less than 99 %. Brackets say what an interval holds: 99.2 % of 8 starts is"
        " the median over process starts, from 8 of them, with a chance of 99.2 %. Numbers without"
        " brackets do not vary. Virtual devices never confirm a claim about GPUs."
    )


def _asked_here() -> str:
    return say(
        "Questions that the notes prompt but do not answer: what they get wrong is not the notes'."
    )


def _not_measured() -> Table:
    rows = [
        [place_in_words(each.places), translation(each.says), translation(each.reason)]
        for each in unmeasured()
    ]
    return Table(
        [say("where"), say("sentence"), say("why it is not measured")],
        rows,
        say(
            "All other sentences of the notes that assert something. With these, each of them has"
            " a verdict above or a reason here."
        ),
        prose=True,
    )
