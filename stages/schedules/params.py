"""What `schedules` reads of params.yaml."""

from typing import Annotated, Self

from pydantic import Field, model_validator

from lab.core.params import Section
from lab.core.shared_params import DeviceParams, Seed


class ScheduleParams(Section):
    """The `schedules` section of params.yaml."""

    num_seeds: Annotated[int, Field(ge=2, le=1000)]
    train_images: Annotated[int, Field(ge=128, le=60_000)]
    batch_size: Annotated[int, Field(ge=1, le=128)]
    high_rates: list[Annotated[float, Field(gt=0, le=1000)]] = Field(min_length=2)
    warm_up_epochs: Annotated[int, Field(ge=1, le=100)]
    num_epochs: Annotated[int, Field(ge=2, le=1000)]

    @model_validator(mode="after")
    def _warm_up_ends(self) -> Self:
        if self.warm_up_epochs >= self.num_epochs:
            raise ValueError(
                f"warm_up_epochs under num_epochs ({self.num_epochs}), got {self.warm_up_epochs}"
            )
        return self


class Params(Section):
    """What `schedules` reads of params.yaml."""

    seed: Seed
    devices: DeviceParams
    schedules: ScheduleParams
