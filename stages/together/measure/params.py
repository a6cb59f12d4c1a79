"""The params that `together` reads."""

from typing import Annotated, Literal

from pydantic import Field

from lab.core.params import Section
from lab.core.shared_params import DeviceParams, Seed
from lab.data.datasets import FASHION_COUNTS
from lab.training.run_params import TrainParams

Count = Annotated[int, Field(ge=1, le=1000)]
Target = Literal[83, 90]  # test accuracies in percent; the last recipes are tuned to these


class TogetherParams(Section):
    seeds: Count
    best_seeds: Count
    targets: Annotated[list[Target], Field(min_length=1)]
    targets_on_the_way: Annotated[list[Target], Field(min_length=1)]
    max_epochs: Annotated[int, Field(ge=1, le=1000)]
    whole: bool
    timed_steps: Annotated[int, Field(ge=2, le=FASHION_COUNTS["train"])]
    timed_processes: Annotated[int, Field(ge=1, le=100)]
    train_images: Annotated[int, Field(ge=1, le=FASHION_COUNTS["train"])]
    test_images: Annotated[int, Field(ge=1, le=FASHION_COUNTS["t10k"])]


class Params(Section):
    seed: Seed
    devices: DeviceParams
    together: TogetherParams
    train: TrainParams
