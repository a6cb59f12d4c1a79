"""The notes' claims and their verdicts.

A claim is confirmed if the whole interval lies in the range, refuted if the whole of it lies
outside, else inconclusive; so it is if the interval holds the truth with less than 99 %, and if it
is of times that were taken while the machine was busy or something disturbed them. What cannot be
decided, since a number is missing, damaged, of synthetic data or of another kind of device, is `not
testable here`, with the reason and the command that measures it; it is never an error and never a
pass.
"""

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from lab.claims.needs import CPU, DEVICE_KINDS, GPU_KINDS, Need, NotTestableError
from lab.claims.rules import DECIDED, EXAMPLE_ONLY, Rule, Verdict, decide
from lab.results.diff import Taken
from lab.results.disturbances import NOT_MEASURABLE, disturbances_of, in_words
from lab.results.findings import Finding, Over, exact, missing
from lab.results.measurements import NOT_MEASURED, SKIPPED

NOT_SEEN = "not seen here, which refutes no “{word}”"  # a message that catalogues translate
MORE_SAMPLES = "the profile `study` takes more"  # where an interval is too weak for a verdict


class Kind(StrEnum):
    """Who makes a claim."""

    SAID = "said"  # a note asserts it
    PRINTED = "printed"  # a number in the book's executed notebook
    ASKED = "asked here"  # this lab's own question, never credited to the notes


@dataclass(frozen=True)
class Front:
    """How a claim that does not hold is told on the front page.

    Attributes:
        rank: how much a reader would care, from 1 on; no two claims have the same.
        refuted: a sentence that is true if the claim is refuted; `{number}` is what was found.
    """

    rank: int
    refuted: str


@dataclass(frozen=True)
class Claim:
    """One sentence that asserts something.

    Attributes:
        id: of the notes' claims the inventory's letter and number, A to G, a small letter telling
            those of one experiment apart; of a question of your own another letter, as X1.
        section: the book's.
        kind: whether a note says it, the book's notebook prints it, or it is asked here.
        places: where in the notes: `000:427`, or several; of what is asked here, what prompted it,
            or nothing.
        says: the claim in our own words, no more and no less than the note's.
        measured: what is measured for it.
        rule: how it is decided.
        tolerance: why the rule's range is what it is.
        needs: what must be so for it to be testable; nothing: any machine will do.
        about_gpus: whether the sentence is about GPUs, the links between them, or a network. What
            a processor shows of it is this lab's own question and counts apart.
        front: how the front page tells it.
        stage: that measures it, whose page has the claim; the ledger knows.
    """

    id: str
    section: str
    kind: Kind
    places: str
    says: str
    measured: str
    rule: Rule
    tolerance: str
    needs: tuple[Need, ...] = ()
    about_gpus: bool = False
    front: Front | None = None
    stage: str = ""

    @property
    def example_only(self) -> str:
        """The word, if any, by which its sentence holds if one example shows it, as “may”."""
        found = EXAMPLE_ONLY.search(self.says)
        return found[0] if found else ""


@dataclass(frozen=True)
class Unmeasured:
    """A sentence of the notes that asserts something which no measurement here decides.

    Attributes:
        places: where in the notes, as for a claim.
        says: the sentence, in our own words.
        reason: why it is not measured.
    """

    places: str
    says: str
    reason: str


@dataclass(frozen=True)
class Judgement:
    """A claim's verdict on this machine.

    There is no finding where it is not testable, or of times that decide nothing.
    """

    claim: Claim
    verdict: Verdict
    finding: Finding | None
    device_kind: str
    reason: str
    unit: str

    @property
    def kind(self) -> Kind:
        """The claim's, but for a sentence about GPUs that was measured without one."""
        without_gpu = self.claim.about_gpus and self.device_kind not in GPU_KINDS
        return Kind.ASKED if without_gpu else self.claim.kind

    @property
    def lacks(self) -> str:
        """The label of the need that is not met; empty where there is none."""
        labels = [need.label for need in self.claim.needs]
        return next((each for each in labels if self.reason.startswith(f"needs {each}:")), "")


def judge(claim: Claim, taken: Taken) -> Judgement:
    """The verdict on a claim by what its stage left. It raises nothing, whatever that is."""
    nothing = missing(f"{NOT_MEASURED}{claim.rule.finding}")
    found = taken.findings.get(claim.rule.finding, nothing)
    kind, unit, possible = _device_kind(found, taken), found.unit, claim.rule.possible

    def not_testable(why: str, kind: str = kind) -> Judgement:
        return Judgement(claim, Verdict.NOT_TESTABLE, None, kind, why, unit)

    if kind not in DEVICE_KINDS:
        foreign = f"device_kind of {claim.stage} is {kind!r}, none of {', '.join(DEVICE_KINDS)}"
        return not_testable(foreign, "unknown")
    try:
        for need in claim.needs:
            need.check(claim.stage, taken.conditions)
    except NotTestableError as reason:
        return not_testable(str(reason))
    if found.missing.startswith(SKIPPED):
        return not_testable(f"stage {claim.stage} skipped it: {found.missing[len(SKIPPED) :]}")
    if found.missing.startswith(NOT_MEASURED):
        return not_testable(f"{found.missing}; `dvc repro {claim.stage}` measures it")
    if found.missing:
        return not_testable(found.missing)
    if not found.consistent():
        return not_testable(f"{found} is no number within its interval")
    if found.high < possible.low or found.low > possible.high:
        return not_testable(
            f"{found.value:.3g} cannot be: the measurement is broken; {_again(claim)}"
        )
    if found.timed and (kept_from := _kept_from_telling(claim, taken.conditions)):
        return Judgement(claim, kept_from[0], None, kind, kept_from[1], unit)
    verdict = decide(found, claim.rule.holds)
    if verdict is Verdict.REFUTED and claim.kind is Kind.SAID and (word := claim.example_only):
        not_seen = NOT_SEEN.format(word=word)
        return Judgement(claim, Verdict.INCONCLUSIVE, found, kind, not_seen, unit)
    return Judgement(claim, verdict, found, kind, _lack(found), unit)


def _device_kind(found: Finding, taken: Taken) -> Any:
    """What a claim is measured on: a stage that has a GPU times the processor as well.

    Beside a GPU the processor is what it is held against.
    """
    return CPU if found.device_kinds == {CPU} else taken.conditions.get("device_kind", CPU)


def _kept_from_telling(claim: Claim, conditions: Mapping[str, Any]) -> tuple[Verdict, str] | None:
    """The verdict, with the reason, of a claim on times if these decide nothing."""
    if lack := conditions.get(NOT_MEASURABLE):
        return Verdict.NOT_TESTABLE, f"stage {claim.stage} skipped it: {lack}"
    if found := disturbances_of(conditions):
        return Verdict.INCONCLUSIVE, f"{in_words(found)}; {_again(claim)}"
    return None


def _again(claim: Claim) -> str:
    return f"`invoke remeasure --stage {claim.stage}` measures again"


def _lack(finding: Finding) -> str:
    """Why a finding decides nothing, or nothing."""
    if finding.decides:
        return ""
    percent = f"{100 * finding.level:.4g} %"
    return f"{finding.n} {finding.over} hold the median with {percent} only; {MORE_SAMPLES}"


def rows_of(judgements: Sequence[Judgement]) -> list[dict[str, float | str]]:
    """One row per judgement; a number that does not exist is an empty cell."""
    return [
        {
            "id": f.claim.id,
            "section": f.claim.section,
            "kind": f.kind.value,
            "places": f.claim.places,
            "verdict": f.verdict.value,
            **_cells(f.finding),
            "unit": f.unit,
            "holds": str(f.claim.rule.holds),
            "device_kind": f.device_kind,
            "stage": f.claim.stage,
            "reason": f.reason,
        }
        for f in judgements
    ]


def _cells(finding: Finding | None) -> dict[str, float | str]:
    columns = ("effect", "low", "high", "level", "samples", "over")
    if finding is None:
        return dict.fromkeys(columns, "")
    effect, low, high = (float(f"{n:.6g}") for n in (finding.value, finding.low, finding.high))
    if finding.over is None:
        return {**dict.fromkeys(columns, ""), "effect": effect}
    level = float(f"{finding.level:.6g}")
    return dict(
        zip(columns, (effect, low, high, level, finding.n, finding.over.value), strict=True)
    )


def finding_in(row: Mapping[str, Any]) -> Finding | None:
    """The finding in a row that `rows_of` made; None where there is none.

    Raises:
        ValueError: another row, whose numbers are none.
    """
    if row["effect"] == "":
        return None
    if row["level"] == "":
        return exact(_number_in(row, "effect"))
    effect, low, high, samples = (
        _number_in(row, name) for name in ("effect", "low", "high", "samples")
    )
    return Finding(effect, low, high, int(samples), Over(row["over"]))


def _number_in(row: Mapping[str, Any], name: str) -> float:
    found = row[name]
    if not isinstance(found, int | float) or not abs(found) <= sys.float_info.max:
        raise ValueError(f"{name} of {row['id']} is no finite number")
    return float(found)


def judgements_of(rows: Sequence[Mapping[str, Any]], ledger: Sequence[Claim]) -> list[Judgement]:
    """The judgements on the claims of `ledger` that rows hold; inverse of `rows_of` to 6 digits.

    A row with another range is of an earlier rule, and none of this one's.
    """
    claims = {claim.id: claim for claim in ledger}
    asked = {claim.id: str(claim.rule.holds) for claim in ledger}
    return [
        Judgement(
            claims[row["id"]],
            Verdict(row["verdict"]),
            finding_in(row),
            str(row["device_kind"]),
            str(row["reason"]),
            str(row["unit"]),
        )
        for row in rows
        if asked.get(row["id"]) == row["holds"]
    ]


def by_interval(judgements: Sequence[Judgement]) -> list[Judgement]:
    """The confirmed and refuted claims whose verdict rests on an interval."""
    return [f for f in judgements if f.verdict in DECIDED and f.finding and not f.finding.exact]


def false_verdicts(judgements: Sequence[Judgement]) -> float:
    """How many confirmed or refuted claims to expect to be wrong by chance, at most.

    The sum over them of the chance that the interval does not hold the true median (the bound of
    Bonferroni, for expectations: it holds however they depend on each other).
    """
    return sum(1 - f.finding.level for f in by_interval(judgements) if f.finding)


def for_the_front(judgements: Sequence[Judgement], count: int, of_a_stage: int) -> list[Judgement]:
    """What did not survive measurement and a front page tells, by rank; so many of each stage."""
    by_rank = {
        f.claim.front.rank: f for f in judgements if f.claim.front and f.verdict is Verdict.REFUTED
    }
    found: list[Judgement] = []
    for _, f in sorted(by_rank.items()):
        if sum(other.claim.stage == f.claim.stage for other in found) < of_a_stage:
            found.append(f)
    return found[:count]
