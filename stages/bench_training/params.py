"""What `bench_training` reads of params.yaml."""

from typing import Annotated

from pydantic import Field

from lab.core.params import Section
from lab.core.shared_params import BenchParams, DeviceParams


class TrainingParams(Section):
    """The `bench_training` section of params.yaml."""

    rounds: Annotated[int, Field(ge=8, le=1000)]
    heats: Annotated[int, Field(ge=1, le=8)]
    lenet_batch_size: Annotated[int, Field(ge=1, le=4096)]
    lenet_steps: Annotated[int, Field(ge=1, le=200)]
    resnet_batch_size: Annotated[int, Field(ge=1, le=4096)]
    resnet_steps: Annotated[int, Field(ge=1, le=200)]
    compile: bool


class Params(Section):
    """What `bench_training` reads of params.yaml."""

    devices: DeviceParams
    bench: BenchParams
    bench_training: TrainingParams
