"""The numbers derived from together's rows."""

from lab.results.findings import AS_FAST, Finding, Over, Samples, median, of_one_run, ratio
from lab.results.measurements import Results
from stages.together.measure.names import BASELINE, TECHNIQUES
from stages.together.measure.time_to_accuracy import RECORDS, SecondsTo, fastest, reached, target_of

METRICS = ("best_to_83_s", "notes_to_83_s", "speedup_to_83", "record_90_s", "record_92_s")


def findings(results: Results) -> dict[str, Finding]:
    """Return the seconds to each accuracy for the notes' code and for the fastest recipe."""
    found: dict[str, Finding] = {}
    for target in targets_of(results):
        by_technique = reached(results, dict.fromkeys(TECHNIQUES, target))
        best = fastest(by_technique)
        if best:
            found[f"best_to_{target}_s"] = over_seeds(by_technique[best])
        if best and BASELINE in by_technique:
            found[f"notes_to_{target}_s"] = over_seeds(by_technique[BASELINE])
            found[f"speedup_to_{target}"] = speedup(by_technique[BASELINE], by_technique[best])
    for run, seconds in records(results).items():
        found[f"{run}_s"] = over_seeds(seconds)
    return found


def speedup(old: SecondsTo, new: SecondsTo) -> Finding:
    """Compare seed by seed, or medians without an interval if the numbers of seeds differ."""
    if len(old.seconds) == len(new.seconds):
        return ratio(Samples(old.seconds), Samples(new.seconds), over=Over.SEEDS)
    return of_one_run(old.median / new.median, AS_FAST, "more", Over.SEEDS)


def over_seeds(found: SecondsTo) -> Finding:
    return median(Samples(found.seconds), "s", Over.SEEDS, better="less")


def targets_of(results: Results) -> list[int]:
    """Return the accuracies in percent to which all techniques together were trained."""
    measured = [m for m in results.measurements if m.variant in TECHNIQUES]
    last = [int(m.columns["target"]) for m in measured if m.variant == measured[-1].variant]
    return sorted(set(last) - {0})


def records(results: Results) -> dict[str, SecondsTo]:
    """Return the runs of small networks that reached the accuracy in their names."""
    return reached(results, {run: target_of(run) for run in RECORDS})
