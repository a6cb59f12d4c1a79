"""How long training with a technique takes to an accuracy, by the measurements of its runs.

Each epoch of a run is a measurement of the experiment `seconds`, of training since the run's start,
and, where it was trained whole, of `accuracy`, on the test images in percent. x is the epoch; the
columns are the run's seed and `target`, the accuracy at which it ends, or for which its one cycle
of rates is long enough; 0 where only a part of an epoch was timed, by several processes, each of
which gives a sample. NOTES_RUN, which `stages.train` took, tells how many epochs its steps need.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import takewhile
from statistics import fmean, median
from typing import NamedTuple

from lab.results.measurements import Results
from stages.together.measure.names import ONE_CYCLE, SAME_STEPS, TECHNIQUES

NOTES_RUN = "lenet_1gpu"  # of train.runs: the notes' recipe, ten epochs of it
AT_A_CONSTANT_RATE = (NOTES_RUN, *takewhile(lambda name: name != ONE_CYCLE, TECHNIQUES))
RECORDS = ("record_83", "record_90", "record_92")  # of train.runs: small nets, by their targets


def target_of(run: str) -> int:
    """The accuracy in percent that a record is to reach, by its name."""
    return int(run.removeprefix("record_"))


@dataclass(frozen=True)
class SecondsTo:
    """Seconds of a technique to an accuracy, one for each seed.

    Attributes:
        seconds: of training; where the accuracy was not reached, until training ended.
        epochs: as many, of the same seeds.
        accuracies: in the end, in percent, of the same seeds; none where the seconds are
            extrapolated.
        reached: whether all seeds did; of one cycle of rates, whether their mean did.
    """

    seconds: tuple[float, ...]
    epochs: tuple[int, ...]
    accuracies: tuple[float, ...]
    reached: bool

    @property
    def median(self) -> float:
        """The median over the seeds."""
        return median(self.seconds)

    @property
    def accuracy(self) -> float | None:
        """The mean over the seeds in the end, in percent."""
        return fmean(self.accuracies) if self.accuracies else None

    @property
    def extrapolated(self) -> bool:
        """Whether only a part of an epoch was timed."""
        return not self.accuracies


def reached(results: Results, targets: Mapping[str, int]) -> dict[str, SecondsTo]:
    """The techniques and runs that reached their accuracies."""
    measured = {way: seconds_to(results, way, target) for way, target in targets.items()}
    return {way: found for way, found in measured.items() if found and found.reached}


def fastest(ways: Mapping[str, SecondsTo]) -> str | None:
    """The technique that took the least time."""
    return min(ways, key=lambda technique: ways[technique].median, default=None)


def seconds_to(results: Results, technique: str, target: int) -> SecondsTo | None:
    """The seconds of a technique to `target` percent; None where it was not measured.

    At a constant rate a run passes all lower targets, and the first epoch that is as good counts.
    One cycle of rates counts to its end, and only for the target that it was planned for.
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
    """Seconds since the start and accuracies in percent, by epoch."""

    target: float
    seconds: list[float]
    accuracies: list[float]


def _runs(results: Results, technique: str) -> list[_Run]:
    """The runs of a technique, one for each target and seed."""
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
    """The first epoch that reached the target, or the last one."""
    reached = (n for n, percent in enumerate(run.accuracies, 1) if percent >= target)
    return next(reached, len(run.accuracies))


def _extrapolated(results: Results, runs: Sequence[_Run], target: int) -> SecondsTo | None:
    """As many epochs as the last run of the same steps needs that was trained whole."""
    whole = [way for way in (NOTES_RUN, *SAME_STEPS) if results.series("accuracy", way)]
    found = seconds_to(results, whole[-1], target) if whole else None
    if not found:
        return None
    seconds = [run.seconds[0] * n for run, n in zip(runs, found.epochs, strict=True)]
    return SecondsTo(tuple(seconds), found.epochs, (), found.reached)
