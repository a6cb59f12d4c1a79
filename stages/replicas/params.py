"""What `replicas` reads of params.yaml."""

from typing import Annotated

from pydantic import Field

from lab.core.params import Section
from lab.core.shared_params import DeviceParams, Seed


class ReplicaParams(Section):
    """The `replicas` section of params.yaml."""

    num_devices: Annotated[int, Field(ge=2, le=64)]
    batch_size: Annotated[int, Field(ge=2, le=4096)]
    num_steps: Annotated[int, Field(ge=2, le=230)]
    batch_norm_images: Annotated[int, Field(ge=4, le=4096)]


class Params(Section):
    """What `replicas` reads of params.yaml."""

    seed: Seed
    devices: DeviceParams
    replicas: ReplicaParams
