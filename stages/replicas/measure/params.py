"""What `replicas` reads of params.yaml."""

from typing import Annotated

from pydantic import Field

from lab.core.params import Section
from lab.core.shared_params import DeviceParams, Seed

Seeds = Annotated[int, Field(ge=1, le=1000)]


class AccuracyParams(Section):
    """`replicas.accuracy`: LeNet trained as the notes do."""

    num_seeds: Seeds
    num_epochs: Annotated[int, Field(ge=1, le=100)]
    train_images: Annotated[int, Field(ge=2, le=60_000)]
    test_images: Annotated[int, Field(ge=1, le=10_000)]


class BatchNormParams(Section):
    """`replicas.batch_norm`: nets with batch norm on one device and on several."""

    num_seeds: Seeds
    images_per_device: Annotated[int, Field(ge=2, le=4096)]
    num_steps: Annotated[int, Field(ge=1, le=10_000)]
    test_images: Annotated[int, Field(ge=1, le=10_000)]
    gradient_images_per_device: Annotated[int, Field(ge=2, le=4096)]


class ReplicaParams(Section):
    """The `replicas` section of params.yaml."""

    num_devices: Annotated[int, Field(ge=2, le=64)]
    batch_size: Annotated[int, Field(ge=2, le=4096)]
    num_steps: Annotated[int, Field(ge=2, le=230)]
    accuracy: AccuracyParams
    batch_norm: BatchNormParams


class Params(Section):
    """What `replicas` reads of params.yaml."""

    seed: Seed
    devices: DeviceParams
    replicas: ReplicaParams
