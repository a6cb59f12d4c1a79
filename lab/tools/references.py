"""References: one machine's results in a file, `reports/reference/NAME.json`, to compare with.

A reference holds findings and their conditions; verdicts are judged from them whenever they are
shown. `snapshot` keeps the current results, and `invoke retest` keeps each run as
`reports/retest/N.json`. lab/tools/record measures a machine that is available for minutes, and
also keeps rows and traces in the folder `reports/reference/NAME`.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field, Strict

from lab.claims.verdicts import Judgement, judge_all
from lab.core.errors import DataError, ParamsError
from lab.core.files import HARDWARE_FILE, REPORTS, write_json
from lab.report.machines import Facts, this_machine
from lab.results.derived import taken_under
from lab.results.diff import Taken
from lab.results.documents import Document, Hardware, bring_back, read_document, read_hardware
from lab.results.findings import Finding, Over
from lab.tools.profiles import in_use

REFERENCE = REPORTS / "reference"


class _Finding(Document):
    value: float
    low: float
    high: float
    n: int
    over: Annotated[Over | None, Strict(False)]
    unit: str
    better: Literal["more", "less", ""]
    device_kinds: list[str] = Field(default_factory=list)


class _Stage(Document):
    findings: dict[str, _Finding]
    conditions: dict[str, float | str]


class _Reference(Document):
    """The schema of a reference; a stage that did not finish has the reason as its value."""

    name: str
    profile: str
    hardware: Hardware
    stages: dict[str, str | _Stage]


@dataclass(frozen=True)
class Reference:
    """The results of one machine.

    Attributes:
        name: the file's name.
        hardware: the machine's facts.
        profile: the profile that it ran with.
        taken: the results by the stage's folder.
        judgements: by claim, by today's rules.
    """

    name: str
    hardware: Facts
    profile: str
    taken: Mapping[str, Taken]
    judgements: Mapping[str, Judgement]


def path_of(name: str) -> Path:
    """Return the file of a reference.

    Raises:
        ParamsError: the name has characters other than letters, digits, `_`, `-` and `.`.
    """
    if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,63}", name):
        raise ParamsError(
            f"reference {name!r}: expected at most 64 letters, digits, _, - and .; choose such a"
            " name"
        )
    return REFERENCE / f"{name}.json"


def read_reference(path: Path) -> dict[str, Any]:
    """Read and check a reference.

    Raises:
        DataError: the file is missing or damaged.
        MachineError: the file is a different user's.
    """
    return read_document(path, _Reference, bring_back(path))


def judged(path: Path) -> Reference:
    """Read a reference and judge the claims by it.

    Raises:
        DataError, MachineError: as in `read_reference`.
    """
    found = read_reference(path)
    taken = taken_of(found)
    by_id = {f.claim.id: f for f in judge_all(taken)}
    return Reference(path.stem, found["hardware"], found["profile"], taken, by_id)


def stage_of(taken: Taken) -> dict[str, Any]:
    """Return a reference's entry for a stage: its consistent findings and its conditions."""
    return {
        "findings": {
            name: {key: getattr(found, key) for key in _Finding.model_fields}
            | {"device_kinds": sorted(found.device_kinds)}
            for name, found in taken.findings.items()
            if found.consistent()
        },
        "conditions": dict(taken.conditions),
    }


def taken_of(reference: Mapping[str, Any]) -> dict[str, Taken]:
    """Return a reference's results by the stage's folder, without stages that did not finish."""
    return {
        folder: Taken(
            {
                name: Finding(
                    **{
                        **found,
                        "over": found["over"] and Over(found["over"]),
                        "device_kinds": frozenset(found.get("device_kinds", ())),
                    }
                )
                for name, found in stage["findings"].items()
            },
            stage["conditions"],
            reference["hardware"],
        )
        for folder, stage in reference["stages"].items()
        if isinstance(stage, Mapping)
    }


def snapshot(name: str) -> None:
    """Write the current results as a reference and print its path.

    Raises:
        ParamsError: `path_of` rejects the name.
        DataError: there are no results, or a file is damaged or a different machine's.
    """
    path = path_of(name)
    write_json(path, results_of_here(name))
    print(path)


def results_of_here(name: str) -> dict[str, Any]:
    """Return the current results as a reference's document.

    Raises:
        DataError: there are no results, or a file is damaged or a different machine's.
    """
    found = taken_under(REPORTS)
    if not found or not HARDWARE_FILE.is_file():
        raise DataError(f"{REPORTS}: no results to keep yet; run `invoke repro` first")
    return {
        "name": name,
        "profile": in_use(),
        "hardware": this_machine(REPORTS, read_hardware()),
        "stages": {folder: stage_of(taken) for folder, taken in found.items()},
    }
