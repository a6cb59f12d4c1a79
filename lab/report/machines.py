"""The machines that measured the results, which may differ from the one in use."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lab.claims.book_order import BOOK_ORDER
from lab.core.errors import DataError, LabError
from lab.core.files import ROWS
from lab.report.language import say
from lab.report.numbers import number
from lab.results.disturbances import COPY_SPEEDS, PRODUCT_SPEEDS
from lab.results.documents import read_conditions

Facts = Mapping[str, Any]  # as reports/hardware.json has them
ON_ANY_MACHINE = ("landscapes",)  # same numbers everywhere: the machine is not among their deps


@dataclass(frozen=True)
class Machines:
    """The machine that measured each result.

    Attributes:
        here: the facts of the machine in use.
        folders: by stage, the result folders under reports, with the facts of the machine that
            measured them; None if these are not recorded or damaged.
    """

    here: Facts
    folders: Mapping[str, Mapping[str, Facts | None]]

    def elsewhere(self, stage: str) -> dict[str, Facts | None]:
        """Return a stage's folders with results that are not of the machine in use."""
        return {f: found for f, found in self.folders.get(stage, {}).items() if found != self.here}

    @property
    def stages_elsewhere(self) -> list[str]:
        """The stages with results that are not of the machine in use."""
        return [stage for stage in self.folders if self.elsewhere(stage)]

    def all(self) -> list[Facts]:
        """Return each machine that measured something, the one with most stages first."""
        by_facts: dict[str, tuple[int, Facts]] = {}
        for folders in self.folders.values():
            for key, facts in {json.dumps(f): f for f in folders.values() if f}.items():
                by_facts[key] = by_facts.get(key, (0, facts))[0] + 1, facts
        found = sorted(by_facts.values(), key=lambda each: -each[0])
        return [facts for _, facts in found] or [self.here]

    def of(self, stage: str) -> list[Facts]:
        """Return each machine that measured results of a stage; all if none is recorded."""
        found = filter(None, self.folders.get(stage, {}).values())
        return [*{json.dumps(facts): facts for facts in found}.values()] or self.all()


def machines_of(reports: Path, here: Facts) -> Machines:
    folders: dict[str, dict[str, Facts | None]] = {}
    for stage in BOOK_ORDER:
        if stage in ON_ANY_MACHINE:
            continue
        for rows in sorted((reports / stage).rglob(ROWS)):
            folder = rows.parent.relative_to(reports).as_posix()
            folders.setdefault(stage, {})[folder] = _recorded(rows.parent)
    return Machines(here, folders)


def _recorded(folder: Path) -> Facts | None:
    """Return the machine that measured a folder's results; None if its file does not say."""
    try:
        found: Facts | None = read_conditions(folder).get("machine")
    except LabError:  # that stage's page reports it
        return None
    return found


def this_machine(reports: Path, here: Facts) -> Facts:
    """Return the machine in use, which measured all results under `reports`.

    Raises:
        DataError: a different machine measured some of them.
    """
    if stages := machines_of(reports, here).stages_elsewhere:
        raise DataError(
            f"{reports}: {', '.join(stages)} were measured on a different machine; `invoke repro`"
            " measures them here"
        )
    return here


def in_one_line(*machines: Facts) -> str:
    """Describe machines in one line, each in a few words that distinguish it."""
    return say("; ").join(say(", ").join(_told_apart(facts)) for facts in machines)


def speeds(conditions: Mapping[str, Any]) -> list[str]:
    """Return a sentence on the processor's speed before and after a stage, if it was measured.

    Machines with the same name differ in speed, and a shared machine changes from hour to hour.
    """
    if not conditions.keys() >= {*PRODUCT_SPEEDS, *COPY_SPEEDS}:
        return []
    product, copy = (
        "–".join(dict.fromkeys(number(x, 2) for x in sorted(conditions[key] for key in keys)))
        for keys in (PRODUCT_SPEEDS, COPY_SPEEDS)
    )
    return [
        say(
            "This machine then multiplied matrices at {product} GFLOP/s and copied {copy} GB/s.",
            product=product,
            copy=copy,
        )
    ]


def _told_apart(facts: Facts) -> list[str]:
    cpu, names, software = facts["cpu"], facts["accelerator"]["names"], facts["software"]
    return [
        f"{cpu['model']} ({cpu['instructions']})",
        say("{n} usable cores", n=cpu["usable_cores"]),
        *(names or [say("no GPU")]),
        f"torch {software['torch']}",
        f"Python {software['python']}",
    ]


def notes_on(machines: Machines, stage: str) -> list[str]:
    """Return a stage's notes on results that are not of the machine in use."""
    elsewhere = machines.elsewhere(stage)
    notes = []
    for facts in {json.dumps(f): f for f in elsewhere.values()}.values():
        folders = [folder for folder, found in elsewhere.items() if found == facts]
        all_of_it = folders == list(machines.folders[stage])
        runs = "" if all_of_it else say(", ").join(f.removeprefix(f"{stage}/") for f in folders)
        notes.append(_note(facts, runs))
    return notes


def _note(facts: Facts | None, runs: str) -> str:
    if facts is None:
        if runs:
            return say("It is not recorded which machine measured {runs}.", runs=runs)
        return say("It is not recorded which machine measured this.")
    if runs:
        return say(
            "Another machine measured {runs}: {machine}.", runs=runs, machine=in_one_line(facts)
        )
    return say("Another machine measured this: {machine}.", machine=in_one_line(facts))


def warning_of(machines: Machines) -> str:
    """Return a log line on results of other machines, or ""."""
    stages: Sequence[str] = machines.stages_elsewhere
    if not stages:
        return ""
    return (
        f"not measured on this machine: {', '.join(stages)} ({len(stages)} of"
        f" {len(machines.folders)} sections); `invoke repro` measures them here"
    )
