"""What `bench_buckets` reads of params.yaml."""

from typing import Annotated

from pydantic import Field

from lab.core.params import Section
from lab.core.shared_params import BenchParams, DeviceParams, Seed


class NetParams(Section):
    """Images of each device in a step, and the most MiB of a bucket, one sweep."""

    images: Annotated[int, Field(ge=1, le=60_000)]
    bucket_mib: list[Annotated[float, Field(gt=0, le=1024)]] = Field(min_length=2)


class BucketParams(Section):
    """The `bench_buckets` section of params.yaml."""

    world_size: Annotated[int, Field(ge=2, le=64)]
    lenet: NetParams
    resnet18: NetParams

    @property
    def nets(self) -> dict[str, NetParams]:
        """The nets by their names in lab.nets.models."""
        return {"lenet": self.lenet, "resnet18": self.resnet18}


class Params(Section):
    """What `bench_buckets` reads of params.yaml."""

    seed: Seed
    devices: DeviceParams
    bench: BenchParams
    bench_buckets: BucketParams
