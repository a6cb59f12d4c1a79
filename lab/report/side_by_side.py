"""Several machines' verdicts side by side: where they differ, and what only GPUs decide."""

from collections.abc import Mapping

from lab.claims.claim import Claim
from lab.claims.ledger import ledger
from lab.claims.rules import DECIDED, Verdict
from lab.claims.verdicts import GPU_KINDS, Judgement
from lab.report.verdict_words import SHOWN, measured

Machines = Mapping[str, Mapping[str, Judgement]]  # by name, then by claim


def needs_gpu(claim: Claim) -> bool:
    """Return whether only a GPU can decide the claim."""
    accepted = [set(values) for need in claim.needs for values in need.conditions.values()]
    return any(values <= set(GPU_KINDS) for values in accepted)


def decided_by_gpus(machines: Machines) -> list[Claim]:
    """Return the claims that need a GPU and were tested on one."""
    return [
        claim
        for claim in ledger()
        if needs_gpu(claim) and any(_tested(claim, found) for found in machines.values())
    ]


def decided_by_several(machines: Machines) -> list[Claim]:
    """Return the claims that hold or fail on two or more machines."""
    return [
        claim
        for claim in ledger()
        if sum(verdict in DECIDED for verdict in _verdicts(claim, machines)) > 1
    ]


def differing(machines: Machines) -> list[Claim]:
    """Return the claims with different verdicts, those that hold here and fail there first.

    A number that decides nothing (too few samples, or disturbed) does not count as different.
    """
    apart = [claim for claim in ledger() if len(set(_verdicts(claim, machines))) > 1]
    return sorted(apart, key=lambda claim: not contradicts(claim, machines))


def contradicts(claim: Claim, machines: Machines) -> bool:
    """Return whether the claim holds on one machine and fails on a different one."""
    return set(_verdicts(claim, machines)) >= set(DECIDED)


def _verdicts(claim: Claim, machines: Machines) -> list[Verdict]:
    tested = [f for found in machines.values() if (f := _tested(claim, found))]
    return [f.verdict for f in tested if not f.reason.code]


def cell(claim: Claim, judgements: Mapping[str, Judgement]) -> str:
    """Return a machine's verdict and number for a table; a dash if it did not test the claim."""
    f = _tested(claim, judgements)
    if f is None:
        return SHOWN[Verdict.NOT_TESTABLE].sign
    return f"{SHOWN[f.verdict].sign} {measured(f)}".rstrip()


def _tested(claim: Claim, judgements: Mapping[str, Judgement]) -> Judgement | None:
    """Return a machine's judgement; None if untested, or tested without the GPU it now needs."""
    f = judgements.get(claim.id)
    if f is None or f.verdict is Verdict.NOT_TESTABLE:
        return None
    return f if f.device_kind in GPU_KINDS or not needs_gpu(claim) else None
