"""The params that `bench_compile` reads."""

from typing import Annotated

from pydantic import Field

from lab.core.params import Section
from lab.core.shared_params import BenchParams, DeviceParams, Seed

BatchSizes = Annotated[
    list[Annotated[int, Field(ge=1, le=2**20)]], Field(min_length=1, max_length=8)
]


class CompileParams(Section):
    batch_sizes: BatchSizes
    case_batch_sizes: BatchSizes
    compilers: bool


class Params(Section):
    seed: Seed
    devices: DeviceParams
    bench: BenchParams
    bench_compile: CompileParams
