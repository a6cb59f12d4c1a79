"""What `bench_input` reads of params.yaml."""

from typing import Annotated, Self

from pydantic import Field, model_validator

from lab.core.params import Section
from lab.core.shared_params import BenchParams, DeviceParams, Seed
from lab.data.datasets import FASHION_COUNTS


class InputParams(Section):
    """The `bench_input` section of params.yaml."""

    epoch_images: Annotated[int, Field(ge=2, le=FASHION_COUNTS["train"])]
    rate_images: Annotated[int, Field(ge=2, le=FASHION_COUNTS["train"])]
    batch_size: Annotated[int, Field(ge=2, le=FASHION_COUNTS["train"] // 2)]
    resnet_batch_size: Annotated[int, Field(ge=2, le=FASHION_COUNTS["train"] // 2)]
    steps: Annotated[int, Field(ge=1, le=1000)]
    resnet_steps: Annotated[int, Field(ge=1, le=1000)]

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
    """What `bench_input` reads of params.yaml."""

    seed: Seed
    devices: DeviceParams
    bench: BenchParams
    bench_input: InputParams
