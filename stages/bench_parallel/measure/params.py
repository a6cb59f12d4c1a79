"""The params that `bench_parallel` reads."""

from pydantic import Field

from lab.core.params import Section
from lab.core.shared_params import BenchParams, DeviceParams, Rows, Seed


class ParallelParams(Section):
    sizes: list[Rows] = Field(min_length=1)

    @property
    def largest(self) -> int:
        return max(self.sizes)


class Params(Section):
    seed: Seed
    devices: DeviceParams
    bench: BenchParams
    bench_parallel: ParallelParams
