"""The notes' claims and their verdicts.

A claim is confirmed if the whole interval lies in the range, refuted if all of it lies outside,
else inconclusive. It is also inconclusive if the interval's level is under 99 %, or if its times
were taken on a busy or disturbed machine. A claim is `not testable here`, with the reason, if its
number is missing, damaged, of synthetic data or of a different kind of device; that is never an
error and never a pass.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from lab.claims.claim import Claim, Kind, Need
from lab.claims.ledger import ledger
from lab.claims.rules import SINCE, Verdict, decide, overall
from lab.core.files import MEASURED_ON
from lab.results.diff import Taken
from lab.results.disturbances import NOT_MEASURABLE, disturbances_of
from lab.results.findings import Finding
from lab.results.reasons import (
    DISTURBED,
    FOREIGN,
    NOT_MEASURED,
    NOT_SEEN,
    SKIPPED,
    TOO_FEW,
    UNMET,
    UNUSABLE,
    Reason,
    joined,
)

CPU = "cpu"  # device kind of stages that name none, whatever devices there are
GPU_KINDS = ("cuda", "cuda-shared")
DEVICE_KINDS = (CPU, "cpu-virtual", *GPU_KINDS)

NO_REASON = Reason("")


@dataclass(frozen=True)
class Judgement:
    """A claim's verdict on this machine.

    `finding` is None if the claim is not testable or its times decide nothing. For a claim with
    cases, `cases` has a judgement for each, and the other fields are those of one case.
    """

    claim: Claim
    verdict: Verdict
    finding: Finding | None
    device_kind: str
    reason: Reason
    unit: str
    measured_on: str = ""
    cases: tuple["Judgement", ...] = ()

    @property
    def kind(self) -> Kind:
        """The claim's kind; OURS for a sentence about GPUs that was measured without one."""
        without_gpu = self.claim.about_gpus and self.device_kind not in GPU_KINDS
        return Kind.OURS if without_gpu else self.claim.kind

    @property
    def rule_was_fixed(self) -> bool:
        """True if the measurement is later than the rule's last change."""
        return self.measured_on > max(self.claim.since, SINCE).isoformat()

    @property
    def tests_its_rule(self) -> bool:
        """True if the measurement tests the rule: a time, taken after the rule was fixed.

        Counts and seeded results repeat known values.
        """
        return self.rule_was_fixed and self.finding is not None and self.finding.timed

    @property
    def unmet(self) -> Need | None:
        """The need that is not met, if any."""
        if self.reason.code != UNMET:
            return None
        return next((n for n in self.claim.needs if n.name == self.reason.about), None)


def judge(claim: Claim, taken: Taken) -> Judgement:
    """Judge a claim by its stage's results, and never raise."""
    judged = [_judge(claim, name, taken) for name in claim.deciding]
    if len(judged) == 1:
        return judged[0]
    verdict = overall((each.verdict for each in judged), claim.quantifier == "every")
    first = next((f for f in judged if f.verdict is verdict), judged[0])
    return replace(first, verdict=verdict, cases=tuple(judged))


def _judge(claim: Claim, name: str, taken: Taken) -> Judgement:
    found = taken.findings.get(name)
    kind = _device_kind(found, taken)
    unit = "" if found is None else found.unit
    day = str(taken.conditions.get(MEASURED_ON, ""))

    def judged(
        verdict: Verdict, reason: Reason = NO_REASON, finding: Finding | None = None
    ) -> Judgement:
        return Judgement(claim, verdict, finding, kind, reason, unit, day)

    if kind not in DEVICE_KINDS:
        kind = "unknown"
        return judged(Verdict.NOT_TESTABLE, Reason(FOREIGN, str(taken.conditions["device_kind"])))
    lack = _unmet(claim, taken.conditions) or _no_number(name, found)
    if lack or found is None:
        return judged(Verdict.NOT_TESTABLE, lack or NO_REASON)
    if found.timed and (needed := taken.conditions.get(NOT_MEASURABLE)):
        return judged(Verdict.NOT_TESTABLE, Reason(SKIPPED, str(needed)))
    if found.timed and (happened := disturbances_of(taken.conditions)):
        return judged(Verdict.INCONCLUSIVE, Reason(DISTURBED, joined(happened)))
    if not found.decides:
        return judged(Verdict.INCONCLUSIVE, Reason(TOO_FEW, str(found.n)), found)
    verdict = decide(found, claim.holds)
    if verdict is Verdict.REFUTED and claim.quantifier == "some":
        return judged(Verdict.INCONCLUSIVE, Reason(NOT_SEEN), found)
    return judged(verdict, finding=found)


def _device_kind(found: Finding | None, taken: Taken) -> Any:
    """Return the kind of device that a claim was measured on.

    A stage with a GPU also times the processor, as the GPU's baseline.
    """
    on_cpu = found is not None and found.device_kinds == {CPU}
    return CPU if on_cpu else taken.conditions.get("device_kind", CPU)


def _unmet(claim: Claim, conditions: Mapping[str, Any]) -> Reason | None:
    """Return the first unmet need as a reason; None if all are met."""
    for need in claim.needs:
        for name, accepted in need.conditions.items():
            value = conditions.get(name)
            if value is None:
                return Reason(NOT_MEASURED, name)
            if isinstance(value, bool) or value not in accepted:
                return Reason(UNMET, need.name)
    return None


def _no_number(name: str, found: Finding | None) -> Reason | None:
    """Return why a finding has no number that can be judged; None if it has one."""
    if found is None:
        return Reason(NOT_MEASURED, name)
    if found.missing:
        return found.missing
    return None if found.consistent() else Reason(UNUSABLE, str(found.value))


def rows_of(judgements: Sequence[Judgement]) -> list[dict[str, float | str]]:
    """Return a row for each judgement and each of its cases; a missing number is an empty cell."""
    return [
        {
            "id": f.claim.id,
            "case": case,
            "section": f.claim.section,
            "kind": f.kind.value,
            "places": f.claim.at,
            "verdict": f.verdict.value,
            **_cells(f.finding),
            "unit": f.unit,
            "holds": str(f.claim.holds),
            "since": f.claim.since.isoformat(),
            "measured_on": f.measured_on,
            "device_kind": f.device_kind,
            "stage": f.claim.stage,
            "reason": str(f.reason),
        }
        for judged in judgements
        for case, f in [("", judged), *zip(judged.claim.deciding, judged.cases, strict=False)]
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


def judge_all(taken: Mapping[str, Taken]) -> list[Judgement]:
    """Judge every claim by its stage's results, in the ledger's order."""
    return [judge(claim, taken.get(claim.stage, Taken({}))) for claim in ledger()]


def by_interval(judgements: Sequence[Judgement]) -> list[Judgement]:
    """Return the judgements of claims or cases that an interval tests, decided or not."""
    single = [each for f in judgements for each in f.cases or (f,)]
    return [f for f in single if f.finding and f.finding.decides and not f.finding.exact]


def false_verdicts(judgements: Sequence[Judgement]) -> float:
    """Return a bound on the expected number of claims wrongly confirmed or refuted by chance.

    It is the sum, over all tested claims, of the chance that the interval misses the true median.
    Like Bonferroni's bound, it holds however the claims depend on each other.
    """
    return sum(1 - f.finding.level for f in by_interval(judgements) if f.finding)
