"""The findings that a stage's findings.py derives from its rows; metrics.json holds a few."""

import contextlib
from collections.abc import Iterator, Mapping, Sequence
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Protocol, cast

from lab.core.errors import LabError
from lab.core.files import CONDITIONS, METRICS, ROWS, write_json
from lab.results.diff import Taken
from lab.results.documents import read_conditions, read_results
from lab.results.findings import Finding
from lab.results.measurements import Results

# what reading foreign results may raise
UNREADABLE = (LabError, ArithmeticError, LookupError, TypeError, ValueError)


class Derivation(Protocol):
    """A stage's findings.py.

    Attributes:
        METRICS: names of at most five findings that a person compares.
        findings: returns the findings by name; raises nothing if rows are missing.
    """

    @property
    def METRICS(self) -> Sequence[str]: ...  # noqa: N802  (a constant of the module)

    def findings(self, results: Results) -> dict[str, Finding]: ...


def derivation_of(stage: str) -> Derivation | None:
    """Return a stage's findings.py, or None if it has none."""
    name = f"stages.{stage}.findings"
    there = find_spec(f"stages.{stage}") and find_spec(name)
    return cast(Derivation, import_module(name)) if there else None


def taken_under(reports: Path) -> dict[str, Taken]:
    """Return the findings under `reports` by folder: a stage's, or `train/<run>`.

    Raises:
        DataError: a file is damaged.
        MachineError: a file cannot be read.
    """
    return {name: _taken(reports / name, derivation) for name, derivation in derived(reports)}


def whatever_is_under(reports: Path) -> dict[str, Taken]:
    """Return the same, without damaged or foreign results."""
    found = {}
    for name, derivation in derived(reports):
        with contextlib.suppress(*UNREADABLE):
            found[name] = _taken(reports / name, derivation)
    return found


def derived(reports: Path) -> Iterator[tuple[str, Derivation]]:
    """Yield each folder of a completed measurement, and the module that derives its findings."""
    for rows in sorted(reports.rglob(ROWS)):
        folder = rows.parent.relative_to(reports)
        complete = (rows.parent / CONDITIONS).is_file()
        if complete and (derivation := derivation_of(folder.parts[0])):
            yield folder.as_posix(), derivation


def _taken(folder: Path, derivation: Derivation) -> Taken:
    results = read_results(folder)
    machine = read_conditions(folder).get("machine") or {}
    return Taken(derivation.findings(results), results.conditions, machine)


def write_metrics(folder: Path, derivation: Derivation) -> None:
    """Write a stage's metrics.json from its rows on disk.

    `dvc metrics diff` rounds to five decimals, so units keep numbers between 1 and 10⁴.
    """
    found = derivation.findings(read_results(folder))
    write_json(folder / METRICS, metrics_of(found, derivation.METRICS))


def metrics_of(found: Mapping[str, Finding], names: Sequence[str]) -> dict[str, float]:
    """Return the finite numbers among the named findings."""
    wanted = {name: found[name] for name in names if name in found}
    return {name: round(f.value, 4) for name, f in wanted.items() if f.consistent()}
