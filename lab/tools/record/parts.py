"""The parts of a visit in order of value, and the deadline of each."""

from collections.abc import Sequence
from dataclasses import dataclass

TO_WRITE, MOST_TO_WRITE_S = 0.25, 20.0  # share of a part's time to finish and write, and its limit


@dataclass(frozen=True)
class VisitPart:
    """A command of a visit: a stage, or one run of `train`.

    Attributes:
        share: the part's weight in the time. For one device, it is about the seconds that four
            fresh processes took on an H100 or an H200 with the profile `full`; `bench_compile`
            builds for over 100 s there and has not started any yet.
        run: a name in `train.runs`.
    """

    stage: str
    share: float
    run: str = ""

    @property
    def folder(self) -> str:
        """The folder of its results, under reports."""
        return f"{self.stage}/{self.run}" if self.run else self.stage


# the project's goals first, then what most claims about one GPU rest on
OF_ONE_DEVICE = (
    VisitPart("bench_training", 130),
    VisitPart("bench_overlap", 140),
    VisitPart("bench_parallel", 50),
    VisitPart("bench_async", 80),
    VisitPart("bench_input", 65),
    VisitPart("train", 110, "resnet18_1gpu"),
    VisitPart("bench_hardware", 200),
    VisitPart("own_network", 150),
    VisitPart("bench_compile", 180),
)
OF_SEVERAL = (
    VisitPart("scaling", 40),
    VisitPart("parallelism", 15),
    VisitPart("train", 45, "resnet18_2gpu"),
)


def in_order(gpus: int) -> list[VisitPart]:
    """Return the parts, the most valuable first; a single GPU has none of several devices."""
    return [*OF_ONE_DEVICE, *(OF_SEVERAL if gpus != 1 else ())]


def deadline_s(parts: Sequence[VisitPart], left_s: float) -> float:
    """Return the seconds until the first remaining part must begin nothing more.

    That is its share of the time left, minus the time to finish and write.
    """
    share_s = max(0.0, left_s) * parts[0].share / sum(part.share for part in parts)
    return before_writing_s(share_s)


def before_writing_s(seconds: float) -> float:
    """Return a part's time without what it needs to finish its current step and write."""
    return seconds - min(MOST_TO_WRITE_S, TO_WRITE * seconds)
