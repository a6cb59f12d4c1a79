"""The report's first section: which of the notes' claims hold on this machine."""

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from lab.claims import CPU, Finding, Verdict, findings_of, most_surprising
from lab.errors import LabError
from lab.ledger import LEDGER
from lab.page import Link, Section, Table
from lab.records import read_rows
from lab.report_bench import devices_in_words
from lab.words import say

SYMBOLS = {Verdict.CONFIRMED: "✓", Verdict.REFUTED: "✗", Verdict.INCONCLUSIVE: "≈", Verdict.NOT_TESTABLE: "–"}
NUM_SURPRISES = 3


def section(folder: Path) -> Section:
    """Return the section of `folder` (reports/claims)."""
    findings = findings_of(read_rows(folder / "rows.csv"), LEDGER)
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


def by_stage(folder: Path) -> dict[str, list[tuple[str, str, str]]]:
    """Return for each stage the claims that it decides: (id and verdict, what the claim says, what was found).

    Nothing, where those of `folder` (reports/claims) are missing or damaged.
    """
    try:
        findings = findings_of(read_rows(folder / "rows.csv"), LEDGER)
    except (LabError, LookupError, ValueError):
        return {}
    found: dict[str, list[tuple[str, str, str]]] = {}
    for f in findings:
        line = (f"{SYMBOLS[f.verdict]} {f.claim.id} {in_words(f.verdict)}", f.claim.says.here, _effect(f))
        found.setdefault(f.claim.stage, []).append(line)
    return found


def in_words(verdict: Verdict) -> str:
    """Return a verdict in the language that is spoken."""
    return {
        Verdict.CONFIRMED: say("confirmed"),
        Verdict.REFUTED: say("refuted"),
        Verdict.INCONCLUSIVE: say("inconclusive"),
        Verdict.NOT_TESTABLE: say("not testable here"),
    }[verdict]


def _counts(findings: Sequence[Finding]) -> str:
    count = Counter(f.verdict for f in findings)
    counts = [
        say("{n} {verdict} {symbol}", n=count[verdict], verdict=in_words(verdict), symbol=SYMBOLS[verdict])
        for verdict in Verdict
    ]
    return say(
        "Of {total} claims: {counts}. Below stand the refuted claims that lie furthest off, measured by the factor"
        " between the number found and the nearest one that would do, one of each stage.",
        total=len(findings), counts=say(", ").join(counts),
    )  # fmt: skip


def _surprise(finding: Finding) -> str:
    claim = finding.claim
    return say(
        "{symbol} {id}, note {note}: “{claim}” {measured} Found: {effect}; the claim holds for {range}.",
        symbol=SYMBOLS[finding.verdict], id=claim.id, note=claim.note, claim=claim.says.here,
        measured=claim.measured.here, effect=_effect(finding), range=claim.rule.holds.words.here,
    )  # fmt: skip


def _missing(findings: Sequence[Finding]) -> list[str]:
    """Return the sentence that says what would be needed to test the rest, if there is a rest."""
    wants = Counter(f.claim.wants for f in findings if f.verdict is Verdict.NOT_TESTABLE)
    parts = [
        say("{n} for want of {what}", n=n, what=say(" and ").join(w.here for w in want) or say("results"))
        for want, n in wants.items()
    ]
    wanted = say(", ").join(parts)
    return [say("Not testable here: {wanted}; each with its reason below.", wanted=wanted)] if parts else []


def _table(findings: Sequence[Finding]) -> Table:
    rows: list[list[str | Link]] = [
        [
            f.claim.id, f.claim.section, f.claim.says.here, f"{SYMBOLS[f.verdict]} {in_words(f.verdict)}",
            say("{effect}. {measured}", effect=_effect(f), measured=f.claim.measured.here),
            f.claim.rule.holds.words.here, Link(f.claim.stage),
        ]
        for f in findings
    ]  # fmt: skip
    return Table(
        ["", say("book"), say("claim"), say("verdict"), say("found, and what it is"), say("holds for"),
         say("stage")],
        rows,
        say("Confirmed: the whole interval lies in the range that the claim's words ask for; refuted: the whole of"
            " it lies outside; inconclusive: it lies across an end. Numbers without an interval are deterministic,"
            " or of one run. Virtual devices never confirm a claim about GPUs."),
        prose=True,
    )  # fmt: skip


def _effect(finding: Finding) -> str:
    """Return the number with its unit and interval, or why there is none: that is kept in English."""
    if finding.estimate is None:
        return say("reason: {reason}", reason=finding.reason)
    e, unit = finding.estimate, finding.claim.rule.unit.here
    if e.exact:
        effect = say("{number} {unit}", number=_number(e.value), unit=unit)
    else:
        ends = {"low": _number(e.low), "high": _number(e.high)}
        effect = say("{number} ({low} to {high}) {unit}", number=_number(e.value), unit=unit, **ends)
    if finding.device_kind == CPU:
        return effect
    return say("{effect}, on {devices}", effect=effect, devices=devices_in_words(finding.device_kind))


def _number(n: float) -> str:
    return f"{n:,.0f}" if abs(n) >= 1000 else f"{n:.4g}"
