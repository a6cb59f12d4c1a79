"""The numbers that together's rows give, each derived once."""

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

METRICS = ("all_to_83_s", "notes_to_83_s", "speedup_to_83", "record_90_s", "record_92_s")


def findings(results: Results) -> dict[str, Finding]:
    """Seconds to each accuracy that all runs reached, over seeds."""
    found: dict[str, Finding] = {}
    rungs = [rung for rung in results.variants("seconds") if rung in RUNGS]
    for target in targets_of(results):
        notes, everything = (seconds_to(results, rung, target) for rung in (NOTES_WAY, rungs[-1]))
        for name, way in (("all", everything), ("notes", notes)):
            if way and way.reached:
                found[f"{name}_to_{target}_s"] = over_seeds(way)
        if notes and everything and notes.reached and everything.reached:
            old, new = Samples(notes.seconds), Samples(everything.seconds)
            found[f"speedup_to_{target}"] = ratio(old, new, over=Over.SEEDS)
    for run, way in records(results).items():
        found[f"{run}_s"] = over_seeds(way)
    return found


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
    measured = {run: seconds_to(results, run, target_of(run)) for run in runs}
    return {run: found for run, found in measured.items() if found and found.reached}
