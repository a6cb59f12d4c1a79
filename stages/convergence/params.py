"""What `convergence` reads of params.yaml."""

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from lab.core.params import Section
from lab.core.shared_params import BenchParams, DeviceParams, Seed


class ConvergenceParams(Section):
    """The `convergence` section of params.yaml."""

    image_side: Literal[14, 28]
    train_images: Annotated[int, Field(ge=16, le=60_000)]
    test_images: Annotated[int, Field(ge=1, le=10_000)]
    batch_sizes: list[Annotated[int, Field(ge=1, le=60_000)]] = Field(min_length=2)
    lr: Annotated[float, Field(gt=0, le=1000)]
    warm_up_epochs: Annotated[float, Field(gt=0, le=100)]
    target_accuracy_percent: Annotated[float, Field(gt=0, le=100)]
    max_epochs: Annotated[int, Field(ge=1, le=1000)]
    num_seeds: Annotated[int, Field(ge=2, le=1000)]
    tuning_seeds: Annotated[int, Field(ge=0, le=1000)]
    staleness: list[Annotated[int, Field(ge=0, le=1000)]] = Field(min_length=2)
    short_images: Annotated[int, Field(ge=1, le=1_000_000_000)]

    @model_validator(mode="after")
    def _fits(self) -> Self:
        if (
            self.batch_sizes != sorted(set(self.batch_sizes))
            or self.batch_sizes[-1] > self.train_images
        ):
            raise ValueError(f"growing batch_sizes of at most train_images, got {self.batch_sizes}")
        if 16 * self.batch_sizes[0] > self.train_images:
            raise ValueError(
                f"16 times the smallest of batch_sizes at most train_images ({self.train_images}),"
                f" got {self.batch_sizes[0]}"
            )
        if self.staleness != sorted(set(self.staleness)) or self.staleness[0] != 0:
            raise ValueError(f"growing staleness from 0, got {self.staleness}")
        return self


class Params(Section):
    """What `convergence` reads of params.yaml."""

    seed: Seed
    devices: DeviceParams
    bench: BenchParams
    convergence: ConvergenceParams
