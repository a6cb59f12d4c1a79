"""Run the stage: `python -m stages.claims`."""

import logging
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from lab.claims.evidence import Evidence
from lab.claims.ledger import ledger
from lab.claims.rules import Verdict
from lab.claims.verdicts import Finding, judge, rows_of
from lab.core.errors import LabError
from lab.core.files import HARDWARE_FILE, REPORTS, read_json, read_rows, write_metrics, write_rows
from lab.core.process import run
from lab.report.machines import machines_of, warning_of
from lab.results.documents import read_hardware

log = logging.getLogger(__name__)


def gather(reports: Path, folders: Iterable[str]) -> Evidence:
    """What the stages left in `folders` of `reports`; a missing or damaged file counts as empty."""
    found = {folder: (_metrics(reports / folder), _rows(reports / folder)) for folder in folders}
    return Evidence(
        {k: metrics for k, (metrics, _) in found.items()},
        {k: rows for k, (_, rows) in found.items()},
    )


def _metrics(folder: Path) -> Mapping[str, Any]:
    try:
        return read_json(folder / "metrics.json")
    except LabError:
        return {}


def _rows(folder: Path) -> Sequence[Mapping[str, Any]]:
    try:
        return read_rows(folder / "rows.csv")
    except LabError:
        return ()


def measure(evidence: Evidence) -> list[Finding]:
    """The verdict on every claim."""
    return [judge(claim, evidence) for claim in ledger()]


def summarise(findings: Sequence[Finding]) -> dict[str, float | str]:
    """How many claims got each verdict, and which: a changed verdict changes two lists of ids."""
    ids = {v: [f.claim.id for f in findings if f.verdict is v] for v in Verdict}
    names = {v: v.value.replace(" ", "_") for v in Verdict}
    return {
        "total": len(findings),
        **{names[v]: len(ids[v]) for v in Verdict},
        **{f"{names[v]}_ids": " ".join(ids[v]) for v in Verdict},
    }


def main() -> None:
    """Judge all claims and write rows and metrics."""
    if HARDWARE_FILE.is_file() and (warning := warning_of(machines_of(REPORTS, read_hardware()))):
        log.warning("%s", warning)
    folders = {read.folder for claim in ledger() for read in claim.reads}
    findings = measure(gather(REPORTS, sorted(folders)))
    write_rows(REPORTS / "claims", rows_of(findings))
    write_metrics(REPORTS / "claims", summarise(findings))


if __name__ == "__main__":
    sys.exit(run(main))
