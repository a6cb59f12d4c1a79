"""The ladder: from the notes' way to all lessons, each rung one lesson above the one before."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from lab.core.shared_params import Augmentation, NetName, Precision, ScheduleName
from lab.data.datasets import FASHION_COUNTS
from lab.training.run_params import RunParams
from stages.together.measure import names


@dataclass(frozen=True)
class Rung:
    """A way to train a net: of the ladder LeNet, of a record any.

    Attributes:
        loop: `loader`, the notes' loop and loader; `memory`, their loop over images in memory;
            `engine`, training's own steps, whose images and weights lie channels last.
        crops: whether the loop in memory leaves out pixels that the net's logits do not depend on,
            as the engine always does.
        keeps_memory: whether what a step frees stays in the process.
        epochs: of one cycle of rates, by the accuracy in percent that it is to reach.
    """

    lesson: str
    loop: Literal["loader", "memory", "engine"] = "loader"
    crops: bool = False
    keeps_memory: bool = False
    net: NetName = "lenet"
    precision: Precision = "fp32"
    batch_size: int = 256
    lr: float = 0.2
    momentum: float = 0.0
    weight_decay: float = 0.0
    label_smoothing: float = 0.0
    schedule: ScheduleName = "constant"
    num_devices: int = 1
    augment: Augmentation = "none"
    train_images: int = FASHION_COUNTS["train"]
    epochs: Mapping[int, int] = field(default_factory=dict)


def record_of(name: str, settings: RunParams, precision: Precision) -> Rung:
    """An entry of `train.runs` called after the accuracy that it is to reach: `record_90`."""
    return Rung(
        name,
        "engine",
        keeps_memory=True,
        net=settings.net,
        precision=precision,
        batch_size=settings.batch_size,
        lr=settings.lr,
        momentum=settings.momentum,
        weight_decay=settings.weight_decay,
        label_smoothing=settings.label_smoothing,
        schedule=settings.schedule,
        num_devices=settings.num_gpus,
        augment=settings.augment,
        train_images=settings.train_images,
        epochs={names.target_of(name): settings.num_epochs},
    )


LESSONS: Mapping[str, Mapping[str, Any]] = {  # what each changes of the rung below
    names.NOTES: {},
    names.IN_MEMORY: {"loop": "memory"},
    names.SEEN_PIXELS: {"crops": True},
    names.CHANNELS_LAST: {"loop": "engine"},
    names.KEPT_MEMORY: {"keeps_memory": True},
    names.BF16: {"precision": "bf16"},
    names.HE: {"net": "lenet_he"},
    names.MOMENTUM: {"momentum": 0.9, "lr": 0.05},
    names.ONE_CYCLE: {"schedule": "one_cycle", "lr": 0.1, "epochs": {83: 1, 90: 6}},
    names.BATCH_SIZE: {"batch_size": 128, "epochs": {83: 1, 90: 5}},
    names.TWO_DEVICES: {"num_devices": 2},
}


def climb() -> Iterator[Rung]:
    """All rungs, from the notes' way up."""
    rung = Rung(names.NOTES)
    for lesson, changed in LESSONS.items():
        rung = replace(rung, lesson=lesson, **changed)
        yield rung


def ladder(bf16: bool) -> list[Rung]:
    """The ladder of a machine; where nothing computes in bfloat16, all others in float32."""
    if bf16:
        return list(climb())
    return [replace(rung, precision="fp32") for rung in climb() if rung.lesson != names.BF16]
