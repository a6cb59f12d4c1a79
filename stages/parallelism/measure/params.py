"""The params that `parallelism` reads."""

from typing import Annotated, Self

from pydantic import Field, model_validator

from lab.core.params import Section
from lab.core.shared_params import BenchParams, DeviceParams, Seed
from stages.parallelism.measure.names import NUM_LAYERS


class ParallelismParams(Section):
    num_devices: list[Annotated[int, Field(ge=2, le=NUM_LAYERS)]] = Field(min_length=1)
    batch_sizes: list[Annotated[int, Field(ge=4, le=4096)]] = Field(min_length=2, max_length=2)
    num_micro_batches: Annotated[int, Field(ge=2, le=4)]
    wide_units: Annotated[int, Field(ge=4, le=65_536)]

    @model_validator(mode="after")
    def _grow(self) -> Self:
        if self.batch_sizes != sorted(set(self.batch_sizes)):
            raise ValueError(f"two growing batch_sizes, got {self.batch_sizes}")
        return self


class Params(Section):
    seed: Seed
    devices: DeviceParams
    bench: BenchParams
    parallelism: ParallelismParams
