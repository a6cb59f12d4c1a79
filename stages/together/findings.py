"""The numbers that together's rows give, each derived once."""

from collections.abc import Mapping

from lab.results.findings import Finding, Over, Samples, median, ratio
from lab.results.measurements import Results
from stages.together.measure.time_to_accuracy import (
    NOTES_WAY,
    RECORD,
    RUNGS,
    SecondsTo,
    seconds_to,
    target_of,
)

METRICS = ("best_to_83_s", "notes_to_83_s", "speedup_to_83", "record_90_s", "record_92_s")


def findings(results: Results) -> dict[str, Finding]:
    """Seconds to each accuracy, by the notes' code and by the fastest rung, over seeds."""
    found: dict[str, Finding] = {}
    for target in targets_of(results):
        ways = reached(results, dict.fromkeys(RUNGS, target))
        best = fastest(ways)
        if best:
            found[f"best_to_{target}_s"] = over_seeds(ways[best])
        if best and NOTES_WAY in ways:
            found[f"notes_to_{target}_s"] = over_seeds(ways[NOTES_WAY])
            old, new = (Samples(ways[rung].seconds) for rung in (NOTES_WAY, best))
            found[f"speedup_to_{target}"] = ratio(old, new, over=Over.SEEDS)
    for run, way in records(results).items():
        found[f"{run}_s"] = over_seeds(way)
    return found


def reached(results: Results, targets: Mapping[str, int]) -> dict[str, SecondsTo]:
    """The rungs and runs that reached their accuracies."""
    measured = {way: seconds_to(results, way, target) for way, target in targets.items()}
    return {way: found for way, found in measured.items() if found and found.reached}


def fastest(ways: Mapping[str, SecondsTo]) -> str | None:
    """The rung that took the least time."""
    return min(ways, key=lambda rung: ways[rung].median, default=None)


def over_seeds(way: SecondsTo) -> Finding:
    return median(Samples(way.seconds), "s", Over.SEEDS, better="less")


def targets_of(results: Results) -> list[int]:
    """The accuracies in percent to which all techniques together were trained."""
    ladder = [m for m in results.measurements if m.variant in RUNGS]
    last = [int(m.columns["target"]) for m in ladder if m.variant == ladder[-1].variant]
    return sorted(set(last) - {0})


def records(results: Results) -> dict[str, SecondsTo]:
    """The runs of small networks that reached the accuracy in their names."""
    runs = (run for run in results.variants("seconds") if run.startswith(RECORD))
    return reached(results, {run: target_of(run) for run in runs})
