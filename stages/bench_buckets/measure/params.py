"""What `bench_buckets` reads of params.yaml."""

from typing import Annotated

from pydantic import Field

from lab.core.params import Section
from lab.core.shared_params import BenchParams, DeviceParams, Seed


class NetParams(Section):
    images: Annotated[int, Field(ge=1, le=60_000)]
    bucket_mib: list[Annotated[float, Field(gt=0, le=1024)]] = Field(min_length=2)


class BucketParams(Section):
    world_size: Annotated[int, Field(ge=2, le=64)]
    lenet: NetParams
    resnet18: NetParams

    @property
    def nets(self) -> dict[str, NetParams]:
        """The nets by their names in lab.nets.models."""
        return {"lenet": self.lenet, "resnet18": self.resnet18}


class Params(Section):
    seed: Seed
    devices: DeviceParams
    bench: BenchParams
    bench_buckets: BucketParams
