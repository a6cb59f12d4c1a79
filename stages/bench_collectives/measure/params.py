"""What `bench_collectives` reads of params.yaml."""

from typing import Annotated, Literal

from pydantic import Field

from lab.core.params import Section
from lab.core.shared_params import BenchParams, DeviceParams


class CollectiveParams(Section):
    world_sizes: list[Annotated[int, Field(ge=2, le=64)]] = Field(min_length=1)
    message_bytes: list[Annotated[int, Field(ge=4, le=2**31, multiple_of=4)]] = Field(min_length=2)
    nets: list[Literal["lenet", "resnet18"]] = Field(min_length=1)


class Params(Section):
    devices: DeviceParams
    bench: BenchParams
    bench_collectives: CollectiveParams
