"""The params that `scaling` reads."""

from typing import Annotated, Self

from pydantic import Field, field_validator, model_validator

from lab.core.params import Section
from lab.core.shared_params import BenchParams, DeviceParams, Seed
from stages.scaling.measure.names import DEFAULT_MIB


class NetParams(Section):
    images: list[Annotated[int, Field(ge=1, le=60_000)]] = Field(min_length=2)
    summed_images: list[int] = Field(min_length=1)
    rounds: Annotated[int, Field(ge=1, le=100)]

    @model_validator(mode="after")
    def _sums_some(self) -> Self:
        if not set(self.summed_images) <= set(self.images):
            raise ValueError(f"expected summed_images among images, got {self.summed_images}")
        return self


class ScalingParams(Section):
    world_sizes: list[Annotated[int, Field(ge=2, le=64)]] = Field(min_length=1)
    message_bytes: list[Annotated[int, Field(ge=4, le=2**31, multiple_of=4)]] = Field(min_length=2)
    lenet: NetParams
    resnet18: NetParams
    bucket_mib: list[Annotated[float, Field(gt=0, le=1024)]] = Field(min_length=2)

    @field_validator("bucket_mib")
    @classmethod
    def _has_default(cls, bucket_mib: list[float]) -> list[float]:
        if DEFAULT_MIB not in bucket_mib:
            raise ValueError(f"expected torch's own size, {DEFAULT_MIB}, among them")
        return bucket_mib

    @property
    def nets(self) -> dict[str, NetParams]:
        """The nets by their names in lab.nets.models."""
        return {"lenet": self.lenet, "resnet18": self.resnet18}


class Params(Section):
    seed: Seed
    devices: DeviceParams
    bench: BenchParams
    scaling: ScalingParams
