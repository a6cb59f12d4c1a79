"""Verdicts in words: what stands in the claims' own section and beside each stage's."""

from pathlib import Path

from lab.claims.evidence import CPU
from lab.claims.ledger import ledger
from lab.claims.notes import BOOK, places_of
from lab.claims.rules import Estimate, Over, Range, Verdict
from lab.claims.verdicts import Claim, Finding, Kind, findings_of
from lab.core.errors import LabError
from lab.core.files import read_rows
from lab.report.benchmarks import devices_in_words
from lab.report.language import say, translation

SYMBOLS = {
    Verdict.CONFIRMED: "✓",
    Verdict.REFUTED: "✗",
    Verdict.INCONCLUSIVE: "≈",
    Verdict.NOT_TESTABLE: "–",
}


def by_stage(folder: Path) -> dict[str, list[tuple[str, str, str]]]:
    """The claims that each stage decides: (id and verdict, what the claim says, what was found).

    Empty if the rows of `folder` (reports/claims) are missing or damaged.
    """
    try:
        findings = findings_of(read_rows(folder / "rows.csv"), ledger())
    except (LabError, LookupError, ValueError):
        return {}
    found: dict[str, list[tuple[str, str, str]]] = {}
    for f in findings:
        line = (
            f"{SYMBOLS[f.verdict]} {f.claim.id} {in_words(f.verdict)}",
            translation(f.claim.says),
            effect_of(f),
        )
        found.setdefault(f.claim.stage, []).append(line)
    return found


def in_words(verdict: Verdict) -> str:
    """A verdict in the language that is spoken."""
    return {
        Verdict.CONFIRMED: say("confirmed"),
        Verdict.REFUTED: say("refuted"),
        Verdict.INCONCLUSIVE: say("inconclusive"),
        Verdict.NOT_TESTABLE: say("not testable here"),
    }[verdict]


def kind_in_words(kind: Kind) -> str:
    """Who makes a claim, in the language that is spoken."""
    return {Kind.SAID: say("said"), Kind.PRINTED: say("printed"), Kind.ASKED: say("asked here")}[
        kind
    ]


def place_in_words(places: str) -> str:
    """Where in the notes, or in the book's notebooks, a sentence stands."""
    found = []
    for place in places_of(places):
        if place.source == BOOK:
            found.append(say("the book's notebook of {section}", section=place.section))
        elif place.first == place.last:
            found.append(say("note {note}, line {line}", note=place.source, line=place.first))
        else:
            found.append(
                say(
                    "note {note}, lines {first} to {last}",
                    note=place.source,
                    first=place.first,
                    last=place.last,
                )
            )
    return say("; ").join(found)


def source_of(claim: Claim) -> str:
    """Who makes a claim, and where."""
    where = place_in_words(claim.places)
    if claim.kind is Kind.ASKED:
        return say("asked here, about {where}", where=where)
    return say("{kind} in {where}", kind=kind_in_words(claim.kind), where=where)


def range_in_words(holds: Range) -> str:
    """The numbers for which a claim holds, in the language that is spoken."""
    return translation(holds.template).format(low=holds.low, high=holds.high)


def effect_of(finding: Finding) -> str:
    """The number with its unit and interval, or why there is none: that is kept in English."""
    if finding.estimate is None:
        return say("reason: {reason}", reason=finding.reason)
    unit = translation(finding.claim.rule.unit)
    effect = say("{number} {unit}", number=interval_of(finding.estimate), unit=unit)
    if finding.reason:
        effect = say("{effect} ({reason})", effect=effect, reason=finding.reason)
    if finding.device_kind == CPU:
        return effect
    return say(
        "{effect}, on {devices}", effect=effect, devices=devices_in_words(finding.device_kind)
    )


def verdict_and_number(finding: Finding | None) -> str:
    """A finding in a cell: its verdict's symbol and its number, or the symbol of none."""
    if finding is None or finding.estimate is None:
        return SYMBOLS[Verdict.NOT_TESTABLE]
    return f"{SYMBOLS[finding.verdict]} {interval_of(finding.estimate)}"


def interval_of(e: Estimate) -> str:
    """A number, and its interval by what it holds."""
    if e.level is None or e.over is None:
        return _number(e.value)
    return say(
        "{number} ({low} to {high}: {level:.1f} % of {count} {over})",
        number=_number(e.value),
        low=_number(e.low),
        high=_number(e.high),
        level=100 * e.level,
        count=e.count,
        over={Over.STARTS: say("starts"), Over.SEEDS: say("seeds"), Over.CASES: say("cases")}[
            e.over
        ],
    )


def _number(n: float) -> str:
    return f"{n:,.0f}" if abs(n) >= 1000 else f"{n:.4g}"
