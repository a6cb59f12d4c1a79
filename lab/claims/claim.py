"""Claims, as a stage's claims.yaml has them: a sentence, what is measured for it, and the rule.

The file has the texts in both languages, side by side. A claim names its needs: needs.yaml defines
those that several stages share, a claims.yaml those of one stage.
"""

from datetime import date
from enum import StrEnum
from functools import cache
from pathlib import Path
from typing import Any, Literal, Self

from pydantic import BaseModel, ConfigDict, model_validator

from lab.core.errors import ParamsError
from lab.core.params import read_yaml, validated
from lab.results.stats import Range

PARTS: dict[str, Any] = {"needs": {}, "claims": [], "unmeasured": []}  # keys of a file
NEEDS_FILE = Path(__file__).with_name("needs.yaml")


class Entry(BaseModel):
    """An entry of a claims.yaml: no unknown keys, no NaN."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)


class Text(Entry):
    """A text in both languages; the Chinese may be missing for a question of your own."""

    en: str
    zh: str = ""


class Need(Entry):
    """A condition on a stage's run for a claim to be testable.

    Attributes:
        name: the claims' name for it.
        label: what is needed.
        remedy: how to get it.
        conditions: the stage's conditions, each with its accepted values.
    """

    name: str
    label: Text
    remedy: Text
    conditions: dict[str, tuple[float | str, ...]]


class Case(Entry):
    """A condition under which a sentence is judged separately.

    Attributes:
        finding: the deciding finding.
        when: the condition, after the number: “1.8 on the airfoil data”.
    """

    finding: str
    when: Text


class Kind(StrEnum):
    """The source of a claim."""

    SAID = "said"  # a note or the book asserts it
    PRINTED = "printed"  # a number in the book's executed notebook
    OURS = "ours"  # this lab's own question, never credited to the notes


class Claim(Entry):
    """One sentence that asserts something.

    Attributes:
        stage: the stage that measures it; its folder has the file.
        id: for the notes' claims, the inventory's letter A to G and number, and a small letter if
            one experiment has several; for a question of your own a different letter, as X1.
        section: the book's section.
        kind: whether a note says it, the book's notebook prints it, or it is our own question.
        at: one or more places in the notes, such as `000:427`; for our own question what prompted
            it, if anything.
        says: the claim in our own words, no more and no less than the note's.
        measured: what is measured for it, and under which conditions.
        finding: the deciding finding, by its name in the stage's findings.py.
        cases: instead of `finding`, conditions that are judged separately from the same rows.
        at_least: the smallest number for which the claim holds.
        at_most: the largest number for which it holds.
        exactly: the only number for which it holds.
        tolerance: why these limits.
        needs: conditions for it to be testable; empty if any machine will do.
        quantifier: `some` (“may”, “can”, “some”) if one example confirms it and none refutes it,
            `every` (“any”, “at least”) if one counterexample among its cases refutes it.
        about_gpus: whether the sentence is about GPUs, the links between them, or a network. A
            processor's result then counts as our own question.
        since: the day on which the rule last changed.
    """

    stage: str
    id: str
    section: str
    kind: Kind
    at: str = ""
    says: Text
    measured: Text
    finding: str = ""
    cases: tuple[Case, ...] = ()
    at_least: float | None = None
    at_most: float | None = None
    exactly: float | None = None
    tolerance: Text
    needs: tuple[Need, ...] = ()
    quantifier: Literal["", "some", "every"] = ""
    about_gpus: bool = False
    since: date

    @model_validator(mode="after")
    def _has_a_rule(self) -> Self:
        ends = (self.at_least, self.at_most)
        if (self.exactly is None) == (ends == (None, None)):
            raise ValueError("expected at_least, at_most or both, or only exactly")
        if None not in ends and self.holds.low > self.holds.high:
            raise ValueError("at_least is over at_most")
        if bool(self.finding) == (len(self.cases) > 1):
            raise ValueError("expected a finding, or two cases or more")
        return self

    @property
    def deciding(self) -> list[str]:
        return [case.finding for case in self.cases] or [self.finding]

    @property
    def holds(self) -> Range:
        if self.exactly is not None:
            return Range(self.exactly, self.exactly)
        low = {} if self.at_least is None else {"low": self.at_least}
        high = {} if self.at_most is None else {"high": self.at_most}
        return Range(**low, **high)


class Unmeasured(Entry):
    """A sentence of the notes that asserts something that no measurement here decides.

    Attributes:
        at: its place in the notes, as for a claim.
        says: the sentence, in our own words.
        reason: why it is not measured.
    """

    at: str
    says: Text
    reason: Text


def read_claims(path: Path, stage: str) -> tuple[list[Claim], list[Unmeasured]]:
    """Read the claims in a stage's claims.yaml, and the sentences that are not measured.

    Raises:
        ParamsError: the file has a mistake; the message has the file, the claim's id and the key.
    """
    document = {**PARTS, **read_yaml(path)}
    if other := document.keys() - PARTS.keys():
        raise ParamsError(f"{path}: {min(other)}: unknown key; take one of {', '.join(PARTS)}")
    known = {**_shared_needs(), **document["needs"]}
    claims = []
    for number, entry in enumerate(document["claims"], start=1):
        where = f"{path}: claim {entry.get('id', number)}"
        names = entry.get("needs", [])
        if unknown := [name for name in names if name not in known]:
            raise ParamsError(f"{where}: no need {unknown[0]!r}; take one of {', '.join(known)}")
        needs = [{"name": name, **known[name]} for name in names]
        claims.append(validated(Claim, {"stage": stage, **entry, "needs": needs}, where))
    unmeasured = [
        validated(Unmeasured, entry, f"{path}: unmeasured {number}")
        for number, entry in enumerate(document["unmeasured"], start=1)
    ]
    return claims, unmeasured


@cache
def _shared_needs() -> dict[str, Any]:
    return read_yaml(NEEDS_FILE)
