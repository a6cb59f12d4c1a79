"""Run the stage: `python -m stages.claims`."""

import logging
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from lab.claims.evidence import Evidence
from lab.claims.ledger import ledger
from lab.claims.rules import Verdict
from lab.claims.verdicts import Judgement, judge, rows_of
from lab.core.errors import LabError
from lab.core.files import HARDWARE_FILE, METRICS, REPORTS, read_rows, write_json, write_rows
from lab.core.process import run
from lab.report.machines import machines_of, warning_of
from lab.results.derived import findings_of
from lab.results.documents import read_hardware, read_metrics

log = logging.getLogger(__name__)


def gather(reports: Path, folders: Iterable[str]) -> Evidence:
    """What the stages left in `folders` of `reports`; a missing or damaged file counts as empty."""
    found = {folder: (_metrics(reports / folder), _rows(reports / folder)) for folder in folders}
    return Evidence(
        {k: metrics for k, (metrics, _) in found.items()},
        {k: rows for k, (_, rows) in found.items()},
        {k: findings_of(reports / k, k) for k in found},
    )


def _metrics(folder: Path) -> Mapping[str, Any]:
    try:
        return read_metrics(folder)
    except LabError:
        return {}


def _rows(folder: Path) -> Sequence[Mapping[str, Any]]:
    try:
        return read_rows(folder / "rows.csv")
    except LabError:
        return ()


def measure(evidence: Evidence) -> list[Judgement]:
    """The verdict on every claim."""
    return [judge(claim, evidence) for claim in ledger()]


def summarise(findings: Sequence[Judgement]) -> dict[str, int]:
    """How many claims got each verdict."""
    counts = Counter(f.verdict for f in findings)
    return {"total": len(findings), **{v.value.replace(" ", "_"): counts[v] for v in Verdict}}


def changes(
    before: Sequence[Mapping[str, Any]], after: Sequence[Mapping[str, Any]]
) -> Iterator[str]:
    """A line for each claim whose verdict changed; one that nobody judged was not testable."""
    old = {row.get("id"): row.get("verdict", "") for row in before}
    for row in after:
        if row["verdict"] != (known := old.get(row["id"], Verdict.NOT_TESTABLE.value)):
            interval = f" ({row['low']} to {row['high']})" if row["low"] != "" else ""
            why = row["reason"] or f"{row['effect']}{interval} {row['unit']}, needed {row['holds']}"
            yield f"{row['id']}: {known} -> {row['verdict']}: {why}"


def main() -> None:
    """Judge all claims, write rows and metrics, and say which verdicts changed."""
    if HARDWARE_FILE.is_file() and (warning := warning_of(machines_of(REPORTS, read_hardware()))):
        log.warning("%s", warning)
    folders = {folder for claim in ledger() for folder in claim.folders}
    findings = measure(gather(REPORTS, sorted(folders)))
    before, after = _rows(REPORTS / "claims"), rows_of(findings)
    write_rows(REPORTS / "claims", after)
    write_json(REPORTS / "claims" / METRICS, summarise(findings))
    for line in changes(before, after):
        log.info("%s", line)


if __name__ == "__main__":
    sys.exit(run(main))
