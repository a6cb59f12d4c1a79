"""The parts of a visit in order of value, and the deadline of each."""

from collections.abc import Sequence
from dataclasses import dataclass

TO_WRITE, MOST_TO_WRITE_S = 0.25, 20.0  # of a part's time: to end what it has begun, and to write


@dataclass(frozen=True)
class Part:
    """A command of a visit: a stage, or one run of `train`.

    Attributes:
        share: of the time. Those of all parts are about the seconds, of 600, that they are expected
            to take on a GPU for servers with the profile `full`.
        run: of `train.runs`.
    """

    stage: str
    share: float
    run: str = ""

    @property
    def folder(self) -> str:
        """Where it leaves its results, under reports."""
        return f"{self.stage}/{self.run}" if self.run else self.stage


# the goals first, then what most claims about one GPU rest on
OF_ONE_DEVICE = (
    Part("bench_training", 190),
    Part("bench_overlap", 30),
    Part("bench_parallel", 20),
    Part("bench_async", 50),
    Part("bench_compile", 90),
    Part("bench_hardware", 70),
    Part("bench_input", 60),
)
TRAINED = (Part("train", 45, "resnet18_1gpu"), Part("train", 45, "resnet18_2gpu"))
OF_SEVERAL = (
    Part("scaling", 20),
    Part("bench_collectives", 20),
    Part("bench_buckets", 15),
    Part("parallelism", 15),
)


def in_order(gpus: int) -> list[Part]:
    """What is worth most first; what needs several GPUs comes last where they are not there."""
    if gpus > 1:
        return [*OF_ONE_DEVICE, *OF_SEVERAL, *TRAINED]
    return [*OF_ONE_DEVICE, *TRAINED, *OF_SEVERAL]


def deadline_s(parts: Sequence[Part], left_s: float) -> float:
    """Seconds until the first of the parts that are left is to begin nothing more.

    That is its share, and what earlier ones left, without what it needs to end and to write.
    """
    share_s = max(0.0, left_s) * parts[0].share / sum(part.share for part in parts)
    return share_s - min(MOST_TO_WRITE_S, TO_WRITE * share_s)
