"""What `bench_parallel` reads of params.yaml."""

from typing import Annotated

from pydantic import Field

from lab.core.params import Section
from lab.core.shared_params import BenchParams, DeviceParams, Seed


class ParallelParams(Section):
    """The `bench_parallel` section of params.yaml."""

    sizes: list[Annotated[int, Field(ge=2, le=2**15)]] = Field(min_length=1)

    @property
    def largest(self) -> int:
        """Rows of the largest matrices."""
        return max(self.sizes)


class Params(Section):
    """What `bench_parallel` reads of params.yaml."""

    seed: Seed
    devices: DeviceParams
    bench: BenchParams
    bench_parallel: ParallelParams
