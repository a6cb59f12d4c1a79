"""The params that `schedules` reads."""

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from lab.core.params import Section
from lab.core.shared_params import DeviceParams, Seed

BatchSize = Annotated[int, Field(ge=1, le=4096)]


class SearchParams(Section):
    seeds: Annotated[int, Field(ge=0, le=1000)]
    batch_size: BatchSize
    steps: Annotated[int, Field(ge=10, le=1_000_000)]
    first_rate: Annotated[float, Field(gt=0, le=1000)]
    resolution: Annotated[float, Field(gt=1, le=2)]


class HighestRateParams(Section):
    lenet: SearchParams
    resnet18: SearchParams


class ScheduleParams(Section):
    image_side: Literal[14, 28]
    train_images: Annotated[int, Field(ge=128, le=60_000)]
    num_seeds: Annotated[int, Field(ge=2, le=1000)]
    batch_size: BatchSize
    steps: Annotated[int, Field(ge=20, le=1_000_000)]
    highest_rate: HighestRateParams

    @model_validator(mode="after")
    def _fits(self) -> Self:
        searched = self.highest_rate
        if searched.lenet.seeds == 0:
            raise ValueError("a seed of highest_rate.lenet at least, got 0")
        largest = max(self.batch_size, searched.lenet.batch_size, searched.resnet18.batch_size)
        if largest > self.train_images:
            raise ValueError(
                f"each batch_size at most train_images ({self.train_images}), got {largest}"
            )
        return self


class Params(Section):
    seed: Seed
    devices: DeviceParams
    schedules: ScheduleParams
