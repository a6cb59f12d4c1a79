"""The ladder: from the notes' way to all lessons, each rung one lesson above the one before."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal, NamedTuple

from pydantic import Field

from lab.training.run_params import NOTES, RunParams
from stages.together.measure.params import TogetherParams
from stages.together.measure.time_to_accuracy import (
    BF16,
    HE,
    MOMENTUM,
    NOTES_WAY,
    ONE_CYCLE,
    timed_in_part,
)


class Rung(RunParams):
    """A way to train a net: its recipe, and what else lessons change.

    loop: `loader`, the notes' loop and loader; `memory`, their loop over images in memory;
    `engine`, training's own steps, whose images and weights lie channels last.
    crops: the loop in memory leaves out pixels that the net's logits do not depend on, as the
    engine always does.
    keeps_memory: what a step frees stays in the process.
    epochs: of one cycle of rates, by the accuracy in percent that it is to reach.
    """

    lesson: str
    loop: Literal["loader", "memory", "engine"] = "loader"
    crops: bool = False
    keeps_memory: bool = False
    epochs: dict[int, int] = Field(default_factory=dict)


LESSONS: Mapping[str, Mapping[str, Any]] = {  # what each changes of the rung below
    NOTES_WAY: {},
    "data set in memory": {"loop": "memory"},
    "skip pixels LeNet never uses": {"crops": True},
    "channels-last layout": {"loop": "engine"},
    "reuse freed memory": {"keeps_memory": True},
    BF16: {"precision": "bf16"},
    HE: {"net": "lenet_he"},
    MOMENTUM: {"optimizer": "nesterov", "lr": 0.05},
    ONE_CYCLE: {"schedule": "one_cycle", "lr": 0.15, "epochs": {83: 1, 90: 7}},
    "batch size 128": {"batch_size": 128, "lr": 0.1, "epochs": {83: 1, 90: 5}},
    "two devices": {"num_gpus": 2},
}


def ladder(bf16: bool) -> list[Rung]:
    """All rungs from the notes' way up; where nothing computes in bfloat16, all in float32."""
    rung, found = Rung(**NOTES.model_dump(), lesson=NOTES_WAY), []
    for lesson, changed in LESSONS.items():
        rung = rung.but(lesson=lesson, **changed)
        found.append(rung)
    if bf16:
        return found
    return [each.but(precision="fp32") for each in found if each.lesson != BF16]


class Run(NamedTuple):
    """A run of a rung with one seed: to an accuracy in percent, or a part of an epoch (0)."""

    target: int
    num_epochs: int
    in_part: bool = False


def runs_of(
    rung: Rung, p: TogetherParams, rungs: Sequence[str], epochs_known: bool
) -> Iterator[Run]:
    """The runs of one of the `rungs`.

    `epochs_known`: another run has told how many epochs the notes' steps need.
    """
    targets: Sequence[int] = p.targets if rung.lesson == rungs[-1] else p.targets_on_the_way
    if rung.lesson in timed_in_part(rungs, epochs_known) and not p.whole:
        yield Run(0, 1, in_part=True)
    elif rung.schedule == "constant":
        yield Run(max(targets), p.max_epochs)
    else:
        for target in targets:
            yield Run(target, rung.epochs[target])
