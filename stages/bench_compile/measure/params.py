"""What `bench_compile` reads of params.yaml."""

from typing import Annotated

from pydantic import Field

from lab.core.params import Section
from lab.core.shared_params import BenchParams, DeviceParams, Seed


class CompileParams(Section):
    """The `bench_compile` section of params.yaml."""

    batch_sizes: list[Annotated[int, Field(ge=1, le=2**20)]] = Field(min_length=1, max_length=8)
    case_batch_sizes: list[Annotated[int, Field(ge=1, le=2**20)]] = Field(
        min_length=1, max_length=8
    )
    first_calls: Annotated[int, Field(ge=2, le=1000)]
    compilers: bool


class Params(Section):
    """What `bench_compile` reads of params.yaml."""

    seed: Seed
    devices: DeviceParams
    bench: BenchParams
    bench_compile: CompileParams
