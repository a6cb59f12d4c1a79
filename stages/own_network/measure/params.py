"""The params that `own_network` reads."""

from typing import Annotated

from pydantic import Field

from lab.core.params import Section
from lab.core.shared_params import DeviceParams, Seed


class NetworkParams(Section):
    file: Annotated[str, Field(pattern=r"\.py$")]
    starts: Annotated[int, Field(ge=2, le=1000)]
    sample_s: Annotated[float, Field(gt=0, le=100)]
    larger_batch: Annotated[int, Field(ge=2, le=1024)]
    compile: bool


class Params(Section):
    seed: Seed
    devices: DeviceParams
    own_network: NetworkParams
