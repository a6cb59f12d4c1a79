"""Verdicts of several machines: which differ, and which only a GPU can decide."""

from dataclasses import replace

from lab.claims.rules import Verdict
from lab.claims.verdicts import Judgement
from lab.report.side_by_side import (
    cell,
    contradicts,
    decided_by_gpus,
    decided_by_several,
    differing,
)
from lab.results.findings import Finding, Over
from lab.results.reasons import TOO_FEW, Reason
from tests.helpers import claim_of

ANYWHERE, ON_GPUS = claim_of("D9c"), claim_of("B1")
HOLDS = Judgement(
    ANYWHERE,
    Verdict.CONFIRMED,
    Finding(3.0, 2.0, 4.0, 8, Over.STARTS),
    "cpu",
    Reason(""),
    "times as fast",
)
FAILS = replace(HOLDS, verdict=Verdict.REFUTED, finding=Finding(0.5, 0.4, 0.6, 8, Over.STARTS))
UNDECIDED = replace(HOLDS, verdict=Verdict.INCONCLUSIVE)
TOO_SHORT = replace(UNDECIDED, reason=Reason(TOO_FEW, "2"))
UNTESTED = replace(HOLDS, verdict=Verdict.NOT_TESTABLE, finding=None)


def machines(*judged):
    return {f"machine {i}": {f.claim.id: f} for i, f in enumerate(judged)}


def test_verdicts_differ_only_with_enough_samples():
    assert differing(machines(HOLDS, HOLDS, UNTESTED, TOO_SHORT)) == []
    assert differing(machines(HOLDS, UNDECIDED)) == [ANYWHERE]
    assert not contradicts(ANYWHERE, machines(HOLDS, UNDECIDED))
    assert contradicts(ANYWHERE, machines(HOLDS, UNDECIDED, FAILS))


def test_a_claim_is_shared_if_two_machines_decide_it():
    assert decided_by_several(machines(HOLDS, UNDECIDED, UNTESTED, TOO_SHORT)) == []
    assert decided_by_several(machines(HOLDS, FAILS)) == [ANYWHERE]


def test_contradicted_claims_come_first():
    first, last = claim_of("F1a"), claim_of("G13c")
    here = {first.id: replace(HOLDS, claim=first), last.id: replace(HOLDS, claim=last)}
    there = {first.id: replace(UNDECIDED, claim=first), last.id: replace(FAILS, claim=last)}
    assert differing({"here": here, "there": there}) == [last, first]


def test_a_claim_that_needs_a_gpu_is_decided_only_by_gpus():
    on_cpu = replace(HOLDS, claim=ON_GPUS, device_kind="cpu-virtual")
    on_gpu = replace(on_cpu, device_kind="cuda")
    assert decided_by_gpus(machines(HOLDS, on_cpu)) == []
    assert decided_by_gpus(machines(HOLDS, on_cpu, on_gpu)) == [ON_GPUS]
    assert [cell(ON_GPUS, m) for m in machines(HOLDS, on_cpu, on_gpu).values()] == [
        "–",
        "–",
        "✓ 3.0 times as fast (2.0–4.0)",
    ]
