"""Claims, as a stage's claims.yaml has them: a sentence, what is measured for it, and the rule.

Their texts stand there in both languages, side by side. What a claim needs is named; needs.yaml
has what several stages name, and a claims.yaml what one alone does.
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

PARTS: dict[str, Any] = {"needs": {}, "claims": [], "unmeasured": []}  # of a file
NEEDS_FILE = Path(__file__).with_name("needs.yaml")


class Entry(BaseModel):
    """A part of such a file: no unknown keys, no NaN."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)


class Text(Entry):
    """A text in both languages; of a question of one's own the Chinese may be missing."""

    en: str
    zh: str = ""


class Need(Entry):
    """What a stage must have run on, or with, for a claim to be testable.

    Attributes:
        name: by which claims name it.
        label: what is needed.
        remedy: what would bring it.
        conditions: of the stage, each with the values that are accepted.
    """

    name: str
    label: Text
    remedy: Text
    conditions: dict[str, tuple[float | str, ...]]


class Case(Entry):
    """A condition under which a sentence is judged by itself, where it may decide otherwise.

    Attributes:
        finding: that decides there.
        when: the condition, behind the number: “1.8 on the airfoil data”.
    """

    finding: str
    when: Text


class Kind(StrEnum):
    """Who makes a claim."""

    SAID = "said"  # a note asserts it, or the book
    PRINTED = "printed"  # a number in the book's executed notebook
    OURS = "ours"  # this lab's own question, never credited to the notes


class Claim(Entry):
    """One sentence that asserts something.

    Attributes:
        stage: that measures it, whose folder has the file.
        id: of the notes' claims the inventory's letter and number, A to G, a small letter telling
            those of one experiment apart; of a question of your own another letter, as X1.
        section: the book's.
        kind: whether a note says it, the book's notebook prints it, or it is our own question.
        at: where in the notes: `000:427`, or several; of our own what prompted it, or nothing.
        says: the claim in our own words, no more and no less than the note's.
        measured: what is measured for it, under which conditions.
        finding: that decides, by its name in the stage's findings.py.
        cases: instead, conditions under which the same rows decide otherwise.
        at_least: the smallest number for which it holds.
        at_most: the largest.
        exactly: the only one.
        tolerance: why these.
        needs: what must be so for it to be testable; nothing: any machine will do.
        quantifier: `some` (“may”, “can”, “some”) if one example confirms it and none refutes it,
            `every` (“any”, “at least”) if one counterexample among its cases refutes it.
        about_gpus: whether the sentence is about GPUs, the links between them, or a network. What
            a processor shows of it is our own question and counts apart.
        since: the day from which the rule is as it is.
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
            raise ValueError("expected at_least, at_most or both, or exactly alone")
        if None not in ends and self.holds.low > self.holds.high:
            raise ValueError("at_least is over at_most")
        if bool(self.finding) == (len(self.cases) > 1):
            raise ValueError("expected a finding, or two cases or more")
        return self

    @property
    def deciding(self) -> list[str]:
        """The findings that decide: one, or one for each case."""
        return [case.finding for case in self.cases] or [self.finding]

    @property
    def holds(self) -> Range:
        """The numbers for which it holds."""
        if self.exactly is not None:
            return Range(self.exactly, self.exactly)
        low = {} if self.at_least is None else {"low": self.at_least}
        high = {} if self.at_most is None else {"high": self.at_most}
        return Range(**low, **high)


class Unmeasured(Entry):
    """A sentence of the notes that asserts something which no measurement here decides.

    Attributes:
        at: where in the notes, as for a claim.
        says: the sentence, in our own words.
        reason: why it is not measured.
    """

    at: str
    says: Text
    reason: Text


def read_claims(path: Path, stage: str) -> tuple[list[Claim], list[Unmeasured]]:
    """The claims in a stage's claims.yaml, and the sentences that are not measured.

    Raises:
        ParamsError: a mistake in it, with the file, the claim's id and the key.
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
