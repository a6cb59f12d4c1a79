"""Other machines' results, the references in reports/reference, beside this machine's.

What compares across machines is the claims: a verdict, and an effect with its interval.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lab.claims.agreement import Agreement, agreement_of
from lab.claims.ledger import ledger
from lab.claims.verdicts import Judgement, judgements_of
from lab.core.errors import DataError, LabError
from lab.core.files import read_rows
from lab.report.language import say
from lab.results.documents import bring_back
from lab.tools.profiles import OWN_PARAMS
from lab.tools.references import read_reference


@dataclass(frozen=True)
class Reference:
    """Another machine by name, its hardware and profile in few words, its judgements by claim."""

    name: str
    about: str
    judgements: Mapping[str, Judgement]

    def agreement(self, here: Sequence[Judgement]) -> Agreement:
        """With this machine, on all claims of which both have a number."""
        return agreement_of([here, list(self.judgements.values())])


@dataclass(frozen=True)
class References:
    """The references, and what is wrong with the files beside them that are none."""

    found: Sequence[Reference]
    damaged: Sequence[str]


def references_in(reports: Path) -> References:
    """The references under `reports`, without a snapshot of these very results."""
    found, damaged = [], []
    here = _judgements_under(reports)
    for path in sorted((reports / "reference").glob("*.json")):
        try:
            reference = _reference(path)
        except LabError as error:
            damaged.append(str(error))
            continue
        if any(_number(here.get(each)) != _number(f) for each, f in reference.judgements.items()):
            found.append(reference)
    return References(found, damaged)


def _number(judged: Judgement | None) -> object:
    return judged.finding if judged else None


def _reference(path: Path) -> Reference:
    document = read_reference(path)
    try:
        judgements = _by_id(document.get("claims", []))
    except (LookupError, TypeError, ValueError) as error:
        raise DataError(f"{path}: damaged (claims: {error}); {bring_back(path)}") from None
    hardware, profile = _hardware(document["hardware"]), document["profile"]
    about = (
        say("{hardware}; params of its own", hardware=hardware)
        if profile == OWN_PARAMS
        else say("{hardware}; profile {profile}", hardware=hardware, profile=profile)
    )
    return Reference(document["name"], about, judgements)


def _judgements_under(reports: Path) -> Mapping[str, Judgement]:
    try:
        return _by_id(read_rows(reports / "claims" / "rows.csv"))
    except (LabError, LookupError, TypeError, ValueError):
        return {}


def _by_id(rows: Sequence[Mapping[str, Any]]) -> dict[str, Judgement]:
    return {f.claim.id: f for f in judgements_of(rows, ledger())}


def _hardware(facts: Mapping[str, Any]) -> str:
    names = facts["accelerator"]["names"]
    if names:
        return ", ".join(map(str, names))
    return say(
        "{cpu}, {instructions}, {cores} cores, no GPU",
        cpu=facts["cpu"]["model"],
        instructions=facts["cpu"]["instructions"],
        cores=facts["cpu"]["usable_cores"],
    )
