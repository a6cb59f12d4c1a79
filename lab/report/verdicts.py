"""Verdicts in words: what stands in the claims' own section and beside each stage's."""

from pathlib import Path

from lab.claims.evidence import CPU
from lab.claims.ledger import ledger
from lab.claims.rules import Range, Verdict
from lab.claims.verdicts import Finding, findings_of
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


def range_in_words(holds: Range) -> str:
    """The numbers for which a claim holds, in the language that is spoken."""
    return translation(holds.template).format(low=holds.low, high=holds.high)


def effect_of(finding: Finding) -> str:
    """The number with its unit and interval, or why there is none: that is kept in English."""
    if finding.estimate is None:
        return say("reason: {reason}", reason=finding.reason)
    e, unit = finding.estimate, translation(finding.claim.rule.unit)
    if e.exact:
        effect = say("{number} {unit}", number=_number(e.value), unit=unit)
    else:
        ends = {"low": _number(e.low), "high": _number(e.high)}
        effect = say(
            "{number} ({low} to {high}) {unit}", number=_number(e.value), unit=unit, **ends
        )
    if finding.device_kind == CPU:
        return effect
    return say(
        "{effect}, on {devices}", effect=effect, devices=devices_in_words(finding.device_kind)
    )


def _number(n: float) -> str:
    return f"{n:,.0f}" if abs(n) >= 1000 else f"{n:.4g}"
