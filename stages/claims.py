"""Which sentences of the notes hold on this machine? A verdict for each, from what the other stages measured.

Each entry of the ledger (`lab/ledger.py`) names what it reads of the stages' metrics and rows, how these make one
number with an interval, and the range in which the claim holds. The verdict is `confirmed` if the whole interval
lies within, `refuted` if the whole of it lies outside, `inconclusive` if it lies across an end, and `not testable
here`, with the reason, if something is missing, damaged, of synthetic data, or of another kind of device than the
claim is about. No rule is tuned to the result: the range comes from the claim's words.

Read `reports/claims/rows.csv`, one row per claim. It measures nothing and needs no torch. Book: 12 and 13.
"""

import csv
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from lab.claims import Evidence, Finding, Verdict, judge, rows_of
from lab.errors import LabError
from lab.ledger import LEDGER
from lab.records import REPORTS, read_json, read_rows, write_metrics, write_rows
from lab.runner import run


def gather(reports: Path, folders: Iterable[str]) -> Evidence:
    """Return what the stages left in `folders` of `reports`; a missing or damaged file is as good as empty."""
    found = {folder: (_metrics(reports / folder), _rows(reports / folder)) for folder in folders}
    return Evidence({k: metrics for k, (metrics, _) in found.items()}, {k: rows for k, (_, rows) in found.items()})


def _metrics(folder: Path) -> Mapping[str, Any]:
    try:
        return read_json(folder / "metrics.json")
    except (LabError, OSError, RecursionError):
        return {}


def _rows(folder: Path) -> Sequence[Mapping[str, Any]]:
    try:
        return read_rows(folder / "rows.csv")
    except (LabError, OSError, ValueError, TypeError, csv.Error):
        return ()


def measure(evidence: Evidence) -> list[Finding]:
    """Return the verdict on every claim."""
    return [judge(claim, evidence) for claim in LEDGER]


def summarise(findings: Sequence[Finding]) -> dict[str, float | str]:
    """Return how many claims got each verdict, and every claim's own."""
    counts = {v.value.replace(" ", "_"): sum(f.verdict is v for f in findings) for v in Verdict}
    return {"total": len(findings), **counts, **{f"claim_{f.claim.id.lower()}": f.verdict.value for f in findings}}


def main() -> None:
    """Judge all claims and write rows and metrics."""
    folders = {read.folder for claim in LEDGER for read in claim.reads}
    findings = measure(gather(REPORTS, sorted(folders)))
    write_rows(REPORTS / "claims", rows_of(findings))
    write_metrics(REPORTS / "claims", summarise(findings))


if __name__ == "__main__":
    sys.exit(run(main))
