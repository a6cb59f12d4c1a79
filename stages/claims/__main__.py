"""Run the stage: `python -m stages.claims`."""

import logging
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from lab.claims.ledger import ledger
from lab.claims.rules import Verdict
from lab.claims.verdicts import Judgement, judge, rows_of
from lab.core.errors import LabError
from lab.core.files import HARDWARE_FILE, METRICS, REPORTS, ROWS, read_rows, write_json, write_rows
from lab.core.process import run
from lab.report.machines import machines_of, warning_of
from lab.results.derived import derivation_of
from lab.results.diff import Taken
from lab.results.documents import read_hardware, read_results

log = logging.getLogger(__name__)


def gather(reports: Path, stages: Iterable[str]) -> dict[str, Taken]:
    """What stages left under `reports`; a missing, damaged or foreign file counts as empty."""
    return {stage: _taken(stage, reports / stage) for stage in stages}


def _taken(stage: str, folder: Path) -> Taken:
    derivation = derivation_of(stage)
    try:
        results = read_results(folder)
        found = derivation.findings(results) if derivation else {}
    except (LabError, LookupError, TypeError, ValueError):
        return Taken({})
    return Taken(found, results.conditions)


def measure(taken: Mapping[str, Taken]) -> list[Judgement]:
    """The verdict on every claim."""
    return [judge(claim, taken[claim.stage]) for claim in ledger()]


def _rows_before(path: Path) -> Sequence[Mapping[str, Any]]:
    try:
        return read_rows(path)
    except LabError:  # they are written anew
        return ()


def summarise(judgements: Sequence[Judgement]) -> dict[str, int]:
    """How many claims got each verdict."""
    counts = Counter(f.verdict for f in judgements)
    return {"total": len(judgements), **{v.value.replace(" ", "_"): counts[v] for v in Verdict}}


def changes(
    before: Sequence[Mapping[str, Any]], after: Sequence[Mapping[str, Any]]
) -> Iterator[str]:
    """A line for each claim whose verdict changed; one that nobody judged was not testable."""
    old = {row.get("id"): row.get("verdict", "") for row in before if not row.get("case")}
    for row in (row for row in after if not row["case"]):
        if row["verdict"] != (known := old.get(row["id"], Verdict.NOT_TESTABLE.value)):
            interval = f" ({row['low']} to {row['high']})" if row["low"] != "" else ""
            why = row["reason"] or f"{row['effect']}{interval} {row['unit']}, needed {row['holds']}"
            yield f"{row['id']}: {known} -> {row['verdict']}: {why}"


def main() -> None:
    """Judge all claims, write rows and metrics, and say which verdicts changed."""
    if HARDWARE_FILE.is_file() and (warning := warning_of(machines_of(REPORTS, read_hardware()))):
        log.warning("%s", warning)
    judgements = measure(gather(REPORTS, {claim.stage for claim in ledger()}))
    before, after = _rows_before(REPORTS / "claims" / ROWS), rows_of(judgements)
    write_rows(REPORTS / "claims", after)
    write_json(REPORTS / "claims" / METRICS, summarise(judgements))
    for line in changes(before, after):
        log.info("%s", line)


if __name__ == "__main__":
    sys.exit(run(main))
