"""All machines side by side: this report's and those of reports/reference."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from lab.claims.agreement import agreement_of
from lab.claims.claim import Claim
from lab.report.language import localized, say
from lab.report.machines import Facts
from lab.report.numbers import number, span
from lab.report.side_by_side import (
    Machines,
    cell,
    contradicts,
    decided_by_gpus,
    decided_by_several,
    differing,
)
from lab.report.verdict_words import verdict_and_number
from lab.results.findings import Finding
from stages.report.evidence import Evidence, Reference

UNKNOWN = "–"
NUMBERS = {  # numbers to compare: the factor to the table's unit, by stage and finding
    ("bench_hardware", "peak_float32_gflop_per_s"): 1,
    ("bench_hardware", "copy_gb_per_s"): 1,
    ("bench_training", "lenet_notes_s"): 1e3,
    ("bench_training", "lenet_ours_s"): 1e3,
}
PEAK = next(iter(NUMBERS))

ByStage = Mapping[str, Mapping[str, Any]]  # findings and conditions by name


def values(of_here: ByStage, evidence: Evidence) -> dict[str, object]:
    """Return the values of the page's text.

    Args:
        of_here: the numbers found here, by stage.
        evidence: the verdicts here, and other machines.
    """
    here = say("here")
    references = evidence.references
    by_stage = {here: of_here} | {each.name: _by_stage(each) for each in references}
    judged: Machines = {here: {f.claim.id: f for f in evidence.judgements}} | {
        each.name: each.judgements for each in references
    }
    facts = {here: _facts(evidence.machines.all()[0], evidence.profile)} | {
        each.name: _facts(each.hardware, each.profile) for each in references
    }
    apart = differing(judged)
    peaks = [found.value for each in by_stage.values() if (found := _finding(each, *PEAK))]
    return {
        "machines": {
            name: facts[name] | {"samples": _samples(found), "numbers": _numbers(found)}
            for name, found in by_stage.items()
        },
        "peaks_apart": max(peaks) / min(peaks) if peaks else 1.0,
        "of_gpus": _table(decided_by_gpus(judged), judged),
        "differing": _table(apart, judged),
        "shared": len(decided_by_several(judged)),
        "opposite": [claim.id for claim in apart if contradicts(claim, judged)],
        "effects": [_effects(each, evidence) for each in references],
        "damaged": evidence.damaged,
    }


def _by_stage(reference: Reference) -> ByStage:
    return {folder: {**t.conditions, **t.findings} for folder, t in reference.taken.items()}


def _facts(hardware: Facts, profile: str) -> dict[str, object]:
    cpu, names = hardware["cpu"], Counter(hardware["accelerator"]["names"] or [])
    gpus = [name if n == 1 else f"{n} × {name}" for name, n in names.items()]
    return {
        "cpu": f"{cpu['model']} ({cpu['instructions']})",
        "cores": cpu["usable_cores"],
        "gpus": say(", ").join(gpus) or UNKNOWN,
        "torch": hardware["software"]["torch"],
        "profile": profile,
    }


def _samples(found: ByStage) -> str:
    """Return the fewest and the most fresh processes of a stage."""
    counts = {int(each["starts"]) for each in found.values() if "starts" in each}
    return "–".join(map(str, sorted({min(counts), max(counts)}))) if counts else UNKNOWN


def _numbers(found: ByStage) -> list[str]:
    cells = [(_finding(found, *where), factor) for where, factor in NUMBERS.items()]
    return [_in_a_cell(each * factor) if each else UNKNOWN for each, factor in cells]


def _finding(found: ByStage, stage: str, name: str) -> Finding | None:
    """Return a finding unless it is absent or missing."""
    return found.get(stage, {}).get(name) or None


def _in_a_cell(found: Finding) -> str:
    if found.n < 2:
        return number(found)
    return say("{effect} ({interval})", effect=number(found), interval=span(found))


def _table(claims: Sequence[Claim], judged: Machines) -> dict[str, object]:
    """Return a table: a row for each claim, a column for each machine that tested any."""
    columns = {name: [cell(claim, found) for claim in claims] for name, found in judged.items()}
    tested = {name: cells for name, cells in columns.items() if {*cells} - {UNKNOWN}}
    rows = zip(claims, zip(*tested.values(), strict=True), strict=True)
    return {
        "names": list(tested),
        "rows": [(claim.id, localized(claim.says), cells) for claim, cells in rows],
    }


def _effects(reference: Reference, evidence: Evidence) -> dict[str, object]:
    """Return a machine's timed effects that differ from ours by more than intervals explain."""
    of_both = agreement_of([evidence.judgements, reference.judgements.values()])
    pairs = of_both.of_times.pairs
    return {
        "name": reference.name,
        "count": len(pairs),
        "apart": [
            (
                pair.one.claim.id,
                localized(pair.one.claim.says),
                verdict_and_number(pair.one),
                verdict_and_number(pair.other),
            )
            for pair in pairs
            if not pair.agrees
        ],
    }
