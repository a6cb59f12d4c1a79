"""The params that `optimizers` reads."""

from typing import Annotated

from pydantic import Field

from lab.core.params import Section
from lab.core.shared_params import BenchParams, DeviceParams, Seed


class OptimizerParams(Section):
    num_seeds: Annotated[int, Field(ge=2, le=1000)]
    num_rates: Annotated[int, Field(ge=3, le=200)]
    num_starts: Annotated[int, Field(ge=8, le=3600)]


class Params(Section):
    seed: Seed
    devices: DeviceParams
    bench: BenchParams
    optimizers: OptimizerParams
