"""How long a rung takes to an accuracy, by the rows of its runs."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean, median
from typing import Any

from stages.together.measure import names

Rows = Sequence[Mapping[str, Any]]


@dataclass(frozen=True)
class SecondsTo:
    """Seconds of a rung to an accuracy, one for each seed.

    Attributes:
        seconds: of training; where the accuracy was not reached, until training ended.
        epochs: as many, of the same seeds.
        reached: whether all seeds did; of one cycle of rates, whether their mean did.
        accuracy: the mean in the end, in percent; None where the seconds are extrapolated.
    """

    seconds: tuple[float, ...]
    epochs: tuple[int, ...]
    reached: bool
    accuracy: float | None

    @property
    def median(self) -> float:
        """The median over the seeds."""
        return median(self.seconds)

    @property
    def extrapolated(self) -> bool:
        """Whether only a part of an epoch was timed."""
        return self.accuracy is None


def seconds_to(rows: Rows, rung: str, target: int) -> SecondsTo | None:
    """The seconds of a rung to `target` percent; None where it was not measured."""
    mine = [row for row in rows if row[names.RUNG] == rung]
    if mine and all(row[names.ACCURACY] == "" for row in mine):
        trained = {row[names.RUNG] for row in rows if row[names.ACCURACY] != ""}
        same_steps = [each for each in names.SAME_STEPS if each in trained]
        whole = seconds_to(rows, same_steps[-1], target) if same_steps else None
        if not whole:
            return None
        an_epoch = {row[names.SEED]: float(row[names.SECONDS]) for row in mine}
        seconds = [s * n for s, n in zip(an_epoch.values(), whole.epochs, strict=True)]
        return SecondsTo(tuple(seconds), whole.epochs, whole.reached, None)
    ends = [
        _end(run, target)
        for seed in dict.fromkeys(row[names.SEED] for row in mine)
        if (run := [row for row in mine if row[names.SEED] == seed and _tells_of(row, target)])
    ]
    if not ends:
        return None
    accuracies = [float(row[names.ACCURACY]) for row in ends]
    one_cycle = rung not in names.AT_A_CONSTANT_RATE
    return SecondsTo(
        tuple(float(row[names.SECONDS]) for row in ends),
        tuple(int(row[names.EPOCH]) for row in ends),
        (fmean(accuracies) if one_cycle else min(accuracies)) >= target,
        fmean(accuracies),
    )


def _tells_of(row: Mapping[str, Any], target: int) -> bool:
    """Whether a row's run says something of `target`: one cycle only of what it was planned for.

    At a constant rate a run goes by all lower targets.
    """
    planned = float(row[names.TARGET])
    return planned >= target if row[names.RUNG] in names.AT_A_CONSTANT_RATE else planned == target


def _end(run: Rows, target: int) -> Mapping[str, Any]:
    """The first epoch that reached the target, or the last one; of one cycle the last one."""
    if run[0][names.RUNG] not in names.AT_A_CONSTANT_RATE:
        return run[-1]
    return next((row for row in run if float(row[names.ACCURACY]) >= target), run[-1])
