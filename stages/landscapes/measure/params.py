from typing import Annotated

from pydantic import Field

from lab.core.params import Section
from lab.core.shared_params import Seed


class LandscapeParams(Section):
    num_seeds: Annotated[int, Field(ge=1, le=1000)]
    num_draws: Annotated[int, Field(ge=10, le=100_000)]
    sample_sizes: list[Annotated[int, Field(ge=1, le=100_000)]] = Field(min_length=2)
    train_rows: Annotated[int, Field(ge=2, le=1000)]
    saddle_lr: Annotated[float, Field(gt=0, lt=1)]
    saddle_noise: Annotated[float, Field(gt=0, lt=1)]


class Params(Section):
    seed: Seed
    landscapes: LandscapeParams
