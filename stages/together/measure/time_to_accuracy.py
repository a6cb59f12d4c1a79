"""Time to an accuracy for each technique, derived from its runs.

Each epoch of a run is a measurement of the experiment `seconds` (training since the run's start)
and, if trained whole, one of `accuracy` (test images, in percent). x is the epoch. Columns are the
`seed` and the `target`: the accuracy at which the run ends, or for which its one-cycle schedule is
long enough. A target of 0 means that only a part of an epoch was timed, with one sample from each
of several processes. NOTES_RUN, from `stages.train`, shows how many epochs its steps need.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import takewhile
from statistics import fmean, median
from typing import NamedTuple

from lab.results.measurements import Results
from stages.together.measure.names import ONE_CYCLE, SAME_STEPS, TECHNIQUES

NOTES_RUN = "lenet_1gpu"  # in train.runs: the notes' recipe for ten epochs
AT_A_CONSTANT_RATE = (NOTES_RUN, *takewhile(lambda name: name != ONE_CYCLE, TECHNIQUES))
RECORDS = ("record_83", "record_90", "record_92")  # in train.runs: small nets, by their targets


def target_of(run: str) -> int:
    """Return the target accuracy in percent in a record's name."""
    return int(run.removeprefix("record_"))


@dataclass(frozen=True)
class SecondsTo:
    """Seconds of a technique to an accuracy, one for each seed.

    Attributes:
        seconds: of training, up to its end if the accuracy was not reached.
        epochs: for the same seeds.
        accuracies: final, in percent, for the same seeds; empty if the seconds are extrapolated.
        reached: whether all seeds reached the accuracy; for the one-cycle schedule, their mean.
    """

    seconds: tuple[float, ...]
    epochs: tuple[int, ...]
    accuracies: tuple[float, ...]
    reached: bool

    @property
    def median(self) -> float:
        return median(self.seconds)

    @property
    def accuracy(self) -> float | None:
        """The mean final accuracy over the seeds, in percent."""
        return fmean(self.accuracies) if self.accuracies else None

    @property
    def extrapolated(self) -> bool:
        """True if only a part of an epoch was timed."""
        return not self.accuracies


def reached(results: Results, targets: Mapping[str, int]) -> dict[str, SecondsTo]:
    """Return the techniques and runs that reached their accuracies."""
    measured = {
        technique: seconds_to(results, technique, target) for technique, target in targets.items()
    }
    return {technique: found for technique, found in measured.items() if found and found.reached}


def fastest(by_technique: Mapping[str, SecondsTo]) -> str | None:
    """Return the technique that took the least time, or None."""
    return min(by_technique, key=lambda technique: by_technique[technique].median, default=None)


def seconds_to(results: Results, technique: str, target: int) -> SecondsTo | None:
    """Return the seconds of a technique to `target` percent, or None if not measured.

    A run at a constant rate also passes all lower targets: the first epoch to reach one counts.
    A one-cycle run counts to its end, and only for its own target.
    """
    runs = _runs(results, technique)
    if runs and not any(run.accuracies for run in runs):
        return _extrapolated(results, runs, target)
    one_cycle = technique not in AT_A_CONSTANT_RATE
    ends = [
        (run, len(run.accuracies) if one_cycle else _epochs_to(run, target))
        for run in runs
        if (run.target == target if one_cycle else run.target >= target)
    ]
    if not ends:
        return None
    accuracies = tuple(run.accuracies[epochs - 1] for run, epochs in ends)
    return SecondsTo(
        tuple(run.seconds[epochs - 1] for run, epochs in ends),
        tuple(epochs for _, epochs in ends),
        accuracies,
        (fmean(accuracies) if one_cycle else min(accuracies)) >= target,
    )


class _Run(NamedTuple):
    """Seconds since the run's start and accuracies in percent, by epoch."""

    target: float
    seconds: list[float]
    accuracies: list[float]


def _runs(results: Results, technique: str) -> list[_Run]:
    """Return the runs of a technique, one for each target and seed."""
    columns = (m.columns for m in results.series("seconds", technique))
    runs = dict.fromkeys((each["target"], each["seed"]) for each in columns)
    return [
        _Run(
            float(target),
            *(
                [
                    median(m.values)
                    for m in results.series(experiment, technique, target=target, seed=seed)
                ]
                for experiment in ("seconds", "accuracy")
            ),
        )
        for target, seed in runs
    ]


def _epochs_to(run: _Run, target: int) -> int:
    """Return the first epoch that reached the target, or the last epoch."""
    reached = (n for n, percent in enumerate(run.accuracies, 1) if percent >= target)
    return next(reached, len(run.accuracies))


def _extrapolated(results: Results, runs: Sequence[_Run], target: int) -> SecondsTo | None:
    """Extrapolate to the epochs of the last run trained whole that has the same steps."""
    whole = [
        technique for technique in (NOTES_RUN, *SAME_STEPS) if results.series("accuracy", technique)
    ]
    found = seconds_to(results, whole[-1], target) if whole else None
    if not found:
        return None
    seconds = [run.seconds[0] * n for run, n in zip(runs, found.epochs, strict=True)]
    return SecondsTo(tuple(seconds), found.epochs, (), found.reached)
