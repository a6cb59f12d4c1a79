"""The params that `bench_training` reads."""

from typing import Annotated

from pydantic import Field

from lab.core.params import Section
from lab.core.shared_params import DeviceParams

Batch = Annotated[int, Field(ge=2, le=65_536)]
Steps = Annotated[int, Field(ge=1, le=1000)]


class TrainingParams(Section):
    starts: Annotated[int, Field(ge=1, le=1000)]
    lenet_batch_size: Batch
    lenet_steps: Steps
    resnet_batch_size: Batch
    resnet_steps: Steps
    device_steps: Steps
    width: Annotated[int, Field(ge=2, le=64)]
    peers: bool
    compile: bool


class Params(Section):
    devices: DeviceParams
    bench_training: TrainingParams
