"""The params that `replicas` reads."""

from typing import Annotated

from pydantic import Field

from lab.core.params import Section
from lab.core.shared_params import DeviceParams, Seed

BatchSize = Annotated[int, Field(ge=2, le=4096)]
TestImages = Annotated[int, Field(ge=1, le=10_000)]


class AccuracyParams(Section):
    num_seeds: Annotated[int, Field(ge=0, le=1000)]
    num_epochs: Annotated[int, Field(ge=1, le=100)]
    train_images: Annotated[int, Field(ge=2, le=60_000)]
    test_images: TestImages


class BatchNormParams(Section):
    num_seeds: Annotated[int, Field(ge=1, le=1000)]
    images_per_device: BatchSize
    num_steps: Annotated[int, Field(ge=0, le=10_000)]
    test_images: TestImages
    gradient_images_per_device: Annotated[list[BatchSize], Field(min_length=1)]


class ReplicaParams(Section):
    num_devices: Annotated[int, Field(ge=2, le=64)]
    batch_size: BatchSize
    num_steps: Annotated[int, Field(ge=2, le=230)]
    accuracy: AccuracyParams
    batch_norm: BatchNormParams


class Params(Section):
    seed: Seed
    devices: DeviceParams
    replicas: ReplicaParams
