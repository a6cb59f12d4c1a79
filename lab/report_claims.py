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

SYMBOLS = {Verdict.CONFIRMED: "✓", Verdict.REFUTED: "✗", Verdict.INCONCLUSIVE: "≈", Verdict.NOT_TESTABLE: "–"}
NUM_SURPRISES = 3


def section(results: Path) -> Section:
    """Return the section of `results` (reports/claims)."""
    findings = findings_of(read_rows(results / "rows.csv"), LEDGER)
    return Section(
        stage="claims",
        title="The notes' claims, tested here",
        book="12, 13",
        question="Which sentences of the notes hold on this machine?",
        findings=[
            _counts(findings),
            *map(_surprise, most_surprising(findings, NUM_SURPRISES)),
            *_missing(findings),
        ],
        figures=[],
        tables=[_table(findings)],
    )


def by_stage(results: Path) -> dict[str, list[tuple[str, str, str]]]:
    """Return for each stage the claims that it decides: (id and verdict, what the claim says, what was found).

    Nothing, where `results` (reports/claims) are missing or damaged.
    """
    try:
        findings = findings_of(read_rows(results / "rows.csv"), LEDGER)
    except (LabError, LookupError, ValueError):
        return {}
    found: dict[str, list[tuple[str, str, str]]] = {}
    for f in findings:
        line = (f"{SYMBOLS[f.verdict]} {f.claim.id} {f.verdict.value}", f.claim.says.here, _effect(f))
        found.setdefault(f.claim.stage, []).append(line)
    return found


def _counts(findings: Sequence[Finding]) -> str:
    count = Counter(f.verdict for f in findings)
    parts = ", ".join(f"{count[verdict]} {verdict.value} {SYMBOLS[verdict]}" for verdict in Verdict)
    return (
        f"Of {len(findings)} claims: {parts}. Below stand the refuted claims that lie furthest off, measured by the"
        " factor between the number found and the nearest one that would do, one of each stage."
    )


def _surprise(finding: Finding) -> str:
    claim = finding.claim
    return (
        f"{SYMBOLS[finding.verdict]} {claim.id}, note {claim.note}: “{claim.says.here}” {claim.measured.here}"
        f" Found: {_effect(finding)}; the claim holds for {claim.rule.holds}."
    )


def _missing(findings: Sequence[Finding]) -> list[str]:
    """Return the sentence that says what would be needed to test the rest, if there is a rest."""
    needs = Counter(f.claim.where for f in findings if f.verdict is Verdict.NOT_TESTABLE)
    parts = [
        f"{n} for want of {need}" if need != "any" else f"{n} for want of results" for need, n in needs.items()
    ]
    return [f"Not testable here: {', '.join(parts)}; each with its reason below."] if needs else []


def _table(findings: Sequence[Finding]) -> Table:
    rows: list[list[str | Link]] = [
        [
            f.claim.id, f.claim.section, f.claim.says.here, f"{SYMBOLS[f.verdict]} {f.verdict.value}",
            f"{_effect(f)}. {f.claim.measured.here}", str(f.claim.rule.holds), Link(f.claim.stage),
        ]
        for f in findings
    ]  # fmt: skip
    return Table(
        ["", "book", "claim", "verdict", "found, and what it is", "holds for", "stage"],
        rows,
        "Confirmed: the whole interval lies in the range that the claim's words ask for; refuted: the whole of it"
        " lies outside; inconclusive: it lies across an end. Numbers without an interval are deterministic, or of"
        " one run. Virtual devices never confirm a claim about GPUs.",
        prose=True,
    )


def _effect(finding: Finding) -> str:
    """Return the number with its unit and interval, or why there is none."""
    if finding.estimate is None:
        return finding.reason
    e = finding.estimate
    interval = "" if e.exact else f" ({_number(e.low)} to {_number(e.high)})"
    where = "" if finding.device_kind == CPU else f", on {devices_in_words(finding.device_kind)}"
    return f"{_number(e.value)}{interval} {finding.claim.rule.unit}{where}"


def _number(n: float) -> str:
    return f"{n:,.0f}" if abs(n) >= 1000 else f"{n:.4g}"
