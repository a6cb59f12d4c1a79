"""What a stage's findings.py makes of its rows, and its metrics.json, which lists some of that."""

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

# what foreign results lead to
UNREADABLE = (LabError, ArithmeticError, LookupError, TypeError, ValueError)


class Derivation(Protocol):
    """A stage's findings.py.

    Attributes:
        METRICS: the names of at most five findings that a person compares.
        findings: each finding by its name; it raises nothing where rows are missing.
    """

    @property
    def METRICS(self) -> Sequence[str]: ...  # noqa: N802  (a constant of the module)

    def findings(self, results: Results) -> dict[str, Finding]: ...


def derivation_of(stage: str) -> Derivation | None:
    """A stage's findings.py; None if it has none."""
    name = f"stages.{stage}.findings"
    there = find_spec(f"stages.{stage}") and find_spec(name)
    return cast(Derivation, import_module(name)) if there else None


def taken_under(reports: Path) -> dict[str, Taken]:
    """What lies under `reports`, by folder: a stage's, or `train/<run>`.

    Raises:
        DataError: a file is damaged.
        MachineError: another user's.
    """
    return {name: _taken(reports / name, derivation) for name, derivation in _derived(reports)}


def whatever_is_under(reports: Path) -> dict[str, Taken]:
    """The same, without what is damaged or foreign."""
    found = {}
    for name, derivation in _derived(reports):
        with contextlib.suppress(*UNREADABLE):
            found[name] = _taken(reports / name, derivation)
    return found


def _derived(reports: Path) -> Iterator[tuple[str, Derivation]]:
    """Each folder with the results of a measurement that has ended, and what derives from them."""
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

    `dvc metrics diff` rounds to five decimals: units keep numbers between 1 and 10⁴.
    """
    found = derivation.findings(read_results(folder))
    write_json(folder / METRICS, metrics_of(found, derivation.METRICS))


def metrics_of(found: Mapping[str, Finding], names: Sequence[str]) -> dict[str, float]:
    """The finite numbers of those of the named findings that are there."""
    wanted = {name: found[name] for name in names if name in found}
    return {name: round(f.value, 4) for name, f in wanted.items() if f.consistent()}
