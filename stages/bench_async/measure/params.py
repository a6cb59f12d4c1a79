"""The params that `bench_async` reads."""

from typing import Annotated

from pydantic import Field

from lab.core.params import Section
from lab.core.shared_params import BenchParams, DeviceParams, Rows, Seed


class AsyncParams(Section):
    sizes: list[Rows] = Field(min_length=2)
    # a GPU's queue holds a thousand operations; Python cannot run further ahead
    counts: list[Annotated[int, Field(ge=1, le=1000)]] = Field(min_length=2)
    book_size: Rows


class Params(Section):
    seed: Seed
    devices: DeviceParams
    bench: BenchParams
    bench_async: AsyncParams
