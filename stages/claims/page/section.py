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
    for_the_front,
)
from lab.core.errors import DataError
from lab.core.files import MEND, METRICS, read_json, read_rows
from lab.report.language import say, translation
from lab.report.page import Section, Table
from lab.report.verdicts import counts, in_front, place_in_words
from stages.claims.page.slips import SLIPS

MOST_IN_FRONT = 7


def section(folder: Path) -> Section:
    """The section that `folder` (reports/claims) is told in; the page lists the claims in it."""
    rows, total = read_rows(folder / "rows.csv"), read_json(folder / METRICS).get("total")
    if total != len(rows):
        raise DataError(
            f"{folder}: {len(rows)} rows where metrics.json has {total} verdicts; {MEND}"
        )
    findings = findings_of(rows, ledger())
    return Section(
        stage="claims",
        title=say("All claims"),
        book="12, 13",
        question=say("Which sentences of the notes hold on this machine?"),
        answer=_counts(findings),
        findings=[*map(in_front, for_the_front(findings, MOST_IN_FRONT)), _doubt(findings)],
        figures=[],
        tables=[*_missing(findings), _not_measured(), _slips()],
    )


def _counts(findings: Sequence[Finding]) -> str:
    """How many hold, of what the notes and the book say; then of this lab's own questions."""
    kinds = Counter(f.kind for f in findings)
    theirs = counts([f for f in findings if f.kind is not Kind.ASKED])
    ours = counts([f for f in findings if f.kind is Kind.ASKED])
    return say(
        "Of {total} claims ({said} said in the notes, {printed} printed in the book) {confirmed}"
        " hold here and {refuted} do not; {inconclusive} are undecided, {untested} could not be"
        " tested. Of {asked} questions of this lab's own the answer is yes for {yes} and no for"
        " {no}.",
        total=sum(theirs.values()),
        said=kinds[Kind.SAID],
        printed=kinds[Kind.PRINTED],
        confirmed=theirs[Verdict.CONFIRMED],
        refuted=theirs[Verdict.REFUTED],
        inconclusive=theirs[Verdict.INCONCLUSIVE],
        untested=theirs[Verdict.NOT_TESTABLE],
        asked=kinds[Kind.ASKED],
        yes=ours[Verdict.CONFIRMED],
        no=ours[Verdict.REFUTED],
    )


def _doubt(findings: Sequence[Finding]) -> str:
    """How many verdicts to expect to be wrong by chance."""
    return say(
        "{n} verdicts rest on intervals; at most {false:.2g} of them are expected to be false by"
        " chance (what the intervals leave out, summed).",
        n=len(by_interval(findings)),
        false=false_verdicts(findings),
    )


def _missing(findings: Sequence[Finding]) -> list[Table]:
    """What testing the rest would take, if there is a rest."""
    wants = Counter(f.claim.wants for f in findings if f.verdict is Verdict.NOT_TESTABLE)
    if not wants:
        return []
    rows = [
        [say(" and ").join(translation(w) for w in want) or say("results"), str(n)]
        for want, n in wants.most_common()
    ]
    note = say("Claims that cannot be tested here; each has its reason above.")
    return [Table([say("what is lacking"), say("claims")], rows, note)]


def _not_measured() -> Table:
    rows = [
        [place_in_words(each.places), translation(each.says), translation(each.reason)]
        for each in unmeasured()
    ]
    return Table(
        [say("where"), say("sentence"), say("why it is not measured")],
        rows,
        say(
            "Other sentences of the notes that assert something, each with the reason why nothing"
            " here decides it."
        ),
        prose=True,
    )


def _slips() -> Table:
    rows = [
        [place_in_words(each.places), translation(each.stands), translation(each.right)]
        for each in SLIPS
    ]
    return Table(
        [say("where"), say("what stands there"), say("what is right")],
        rows,
        say("Slips of the notes; they are no claims and are not counted."),
        prose=True,
    )
