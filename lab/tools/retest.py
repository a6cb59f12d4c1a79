"""Retest: whole runs of this machine, kept to see whether their verdicts agree.

`invoke retest` measures everything anew and keeps the claims' rows as `reports/retest/N.json`. The
page shows what two runs or more agree on.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from lab.claims.agreement import AIM_PERCENT, Agreement, agreement_of
from lab.claims.ledger import ledger
from lab.claims.verdicts import Judgement, judgements_of
from lab.core.errors import DataError
from lab.core.files import HARDWARE_FILE, REPORTS, read_rows, write_json
from lab.report.machines import Facts, this_machine
from lab.results.documents import Document, Hardware, bring_back, read_document, read_hardware
from lab.tools.profiles import in_use

RETEST = REPORTS / "retest"
ROWS = REPORTS / "claims" / "rows.csv"


class _Run(Document):
    profile: str
    hardware: Hardware
    claims: list[dict[str, float | str]]


def keep() -> Path:
    """Keep the verdicts that are there as the next run, and return its file.

    Runs of another machine or profile go; git has those that are committed.

    Raises:
        DataError: there are no verdicts, or a file is damaged.
    """
    if not (ROWS.is_file() and HARDWARE_FILE.is_file()):
        raise DataError(f"{ROWS}: no verdicts to keep yet; run `invoke repro` first")
    hardware = this_machine(REPORTS, read_hardware())
    document = {"profile": in_use(), "hardware": hardware, "claims": read_rows(ROWS)}
    for path in paths():
        if any(_read(path)[key] != document[key] for key in ("profile", "hardware")):
            path.unlink()
    kept = paths()
    path = RETEST / f"{1 + (int(kept[-1].stem) if kept else 0)}.json"
    write_json(path, document)
    return path


def paths(folder: Path = RETEST) -> list[Path]:
    """The files of the runs that are kept, in their order."""
    numbered = (path for path in folder.glob("*.json") if path.stem.isdecimal())
    return sorted(numbered, key=lambda path: int(path.stem))


def runs(machine: Facts, folder: Path = RETEST) -> list[list[Judgement]]:
    """The judgements of each run of a machine on the claims of today's ledger.

    Raises:
        DataError: a file is damaged.
    """
    return [_judgements(path) for path in paths(folder) if _read(path)["hardware"] == machine]


def _judgements(path: Path) -> list[Judgement]:
    try:
        return judgements_of(_read(path)["claims"], ledger())
    except (LookupError, TypeError, ValueError) as error:
        raise DataError(f"{path}: damaged (claims: {error}); {bring_back(path)}") from None


def _read(path: Path) -> dict[str, Any]:
    return read_document(path, _Run, bring_back(path))


def summary(found: Agreement) -> Iterator[str]:
    """What the runs agree on, in lines."""
    yield f"{found.num_runs} run(s), {len(found.pairs)} pairs of effects"
    if found.pairs:
        yield (
            f"{found.percent:.1f} % differ by no more than their intervals explain"
            f" (aim: {AIM_PERCENT} %)"
        )
        yield f"apart: {', '.join(f'{name} ({n})' for name, n in found.apart.items()) or 'none'}"
        contradicted = ", ".join(found.contradicted) or "none"
        yield f"confirmed in one run, refuted in another: {contradicted}"


def retest() -> None:
    """Keep the run that is there and say what all runs agree on."""
    print(keep())
    print("\n".join(summary(agreement_of(runs(read_hardware())))))
