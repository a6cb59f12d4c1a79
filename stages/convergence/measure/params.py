"""The params that `convergence` reads."""

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from lab.core.params import Section
from lab.core.shared_params import BenchParams, DeviceParams, Seed
from stages.convergence.measure.names import LENET, RESNET18

Seeds = Annotated[int, Field(ge=0, le=1000)]


class NetParams(Section):
    batch_sizes: list[Annotated[int, Field(ge=1, le=60_000)]] = Field(min_length=2)
    lr: Annotated[float, Field(gt=0, le=1000)]
    warm_up_epochs: Annotated[float, Field(gt=0, le=100)]
    target_accuracy_percent: Annotated[float, Field(gt=0, le=100)]
    max_epochs: Annotated[int, Field(ge=1, le=1000)]
    num_seeds: Seeds
    tuning_seeds: Seeds

    @model_validator(mode="after")
    def _fits(self) -> Self:
        if self.num_seeds == 1:
            raise ValueError("2 num_seeds at least, or 0 for none, got 1")
        if self.batch_sizes != sorted(set(self.batch_sizes)):
            raise ValueError(f"growing batch_sizes, got {self.batch_sizes}")
        return self


class StemParams(Section):
    """ResNet-18's runs with the notes' small stem and with the original one."""

    num_seeds: Annotated[int, Field(ge=0, le=1000)]
    images: Annotated[int, Field(ge=2, le=60_000)]
    batch_size: Annotated[int, Field(ge=2, le=60_000)]
    lr: Annotated[float, Field(gt=0, le=1000)]

    @model_validator(mode="after")
    def _fits(self) -> Self:
        if self.batch_size > self.images:
            raise ValueError(f"batch_size of at most images ({self.images}), got {self.batch_size}")
        return self


class ConvergenceParams(Section):
    image_side: Literal[14, 28]
    train_images: Annotated[int, Field(ge=16, le=60_000)]
    test_images: Annotated[int, Field(ge=1, le=10_000)]
    lenet: NetParams
    resnet18: NetParams
    staleness: list[Annotated[int, Field(ge=0, le=1000)]] = Field(min_length=2)
    short_images: Annotated[int, Field(ge=1, le=1_000_000_000)]
    stems: StemParams

    @property
    def nets(self) -> dict[str, NetParams]:
        """The nets to train, by their names in lab.nets.models."""
        both = {LENET: self.lenet, RESNET18: self.resnet18}
        return {name: of_net for name, of_net in both.items() if of_net.num_seeds}

    @model_validator(mode="after")
    def _fits(self) -> Self:
        if self.lenet.num_seeds == 0:
            raise ValueError("2 seeds of lenet at least, got 0")
        largest = max(self.lenet.batch_sizes[-1], self.resnet18.batch_sizes[-1])
        if largest > self.train_images:
            raise ValueError(
                f"batch_sizes of at most train_images ({self.train_images}), got {largest}"
            )
        if self.stems.images > self.train_images and self.stems.num_seeds:
            raise ValueError(
                f"stems.images of at most train_images ({self.train_images}), got"
                f" {self.stems.images}"
            )
        if self.staleness != sorted(set(self.staleness)) or self.staleness[0] != 0:
            raise ValueError(f"growing staleness from 0, got {self.staleness}")
        return self


class Params(Section):
    seed: Seed
    devices: DeviceParams
    bench: BenchParams
    convergence: ConvergenceParams
