"""The params that `bench_input` reads."""

from typing import Annotated, Self

from pydantic import Field, model_validator

from lab.core.params import Section
from lab.core.shared_params import BenchParams, DeviceParams, Seed
from lab.data.datasets import FASHION_COUNTS

PassImages = Annotated[int, Field(ge=2, le=FASHION_COUNTS["train"])]
BatchSize = Annotated[int, Field(ge=2, le=FASHION_COUNTS["train"] // 2)]
Steps = Annotated[int, Field(ge=1, le=1000)]


class InputParams(Section):
    epoch_images: PassImages
    rate_images: PassImages
    batch_size: BatchSize
    resnet_batch_size: BatchSize
    steps: Steps
    resnet_steps: Steps

    @model_validator(mode="after")
    def _two_batches(self) -> Self:
        for key in ("epoch_images", "rate_images"):
            if getattr(self, key) < 2 * self.batch_size:
                raise ValueError(
                    f"{key} of two batches ({2 * self.batch_size}) or more, got"
                    f" {getattr(self, key)}"
                )
        return self


class Params(Section):
    seed: Seed
    devices: DeviceParams
    bench: BenchParams
    bench_input: InputParams
