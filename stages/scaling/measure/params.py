"""What `scaling` reads of params.yaml."""

from typing import Annotated

from pydantic import Field, field_validator

from lab.core.params import Section
from lab.core.shared_params import BenchParams, DeviceParams


class NetParams(Section):
    calibration_images: list[Annotated[int, Field(ge=1, le=60_000)]] = Field(min_length=2)
    heldout_images: list[Annotated[int, Field(ge=1, le=60_000)]] = Field(min_length=1)


class ScalingParams(Section):
    world_size: Annotated[int, Field(ge=2, le=64)]
    message_bytes: list[Annotated[int, Field(ge=4, le=2**31, multiple_of=4)]] = Field(min_length=3)
    rounds: Annotated[int, Field(ge=2, le=100)]
    tensors: list[Annotated[int, Field(ge=1, le=1024)]] = Field(min_length=3)

    @field_validator("tensors")
    @classmethod
    def _one_and_pairs(cls, tensors: list[int]) -> list[int]:
        """A single tensor is among them, and the second largest number is one of pairs."""
        ordered = sorted(tensors)
        if ordered[0] != 1 or ordered[-2] % 2:
            raise ValueError(
                "expected 1 as the least number of tensors, and an even one next to the most"
            )
        return tensors

    lenet: NetParams
    resnet18: NetParams

    @property
    def nets(self) -> dict[str, NetParams]:
        """The nets by their names in lab.nets.models."""
        return {"lenet": self.lenet, "resnet18": self.resnet18}


class Params(Section):
    devices: DeviceParams
    bench: BenchParams
    scaling: ScalingParams
