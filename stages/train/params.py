"""What `train` reads of params.yaml."""

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from lab.core.params import Section
from lab.core.shared_params import Compile, DeviceParams, DistributedParams, Precision, Seed
from lab.data.datasets import FASHION_COUNTS


class RunParams(Section):
    """One training run; the notes' values are those of profiles/full.yaml."""

    net: Literal["lenet", "resnet18"]
    strategy: Literal["replicas", "dataparallel", "ddp"]
    precision: Precision
    compile: Compile
    num_gpus: Annotated[int, Field(ge=1, le=64)]
    batch_size: Annotated[int, Field(ge=1, le=FASHION_COUNTS["train"])]
    lr: Annotated[float, Field(gt=0, le=1000)]
    num_epochs: Annotated[int, Field(ge=1, le=10_000)]
    train_images: Annotated[int, Field(ge=1, le=FASHION_COUNTS["train"])]
    test_images: Annotated[int, Field(ge=1, le=FASHION_COUNTS["t10k"])]

    @model_validator(mode="after")
    def _batch_fits(self) -> Self:
        if self.batch_size > self.train_images:
            raise ValueError(
                f"a batch_size of at most train_images ({self.train_images}), got {self.batch_size}"
            )
        return self

    @model_validator(mode="after")
    def _a_graph_has_a_process(self) -> Self:
        if self.compile == "reduce-overhead" and self.strategy != "ddp" and self.num_gpus > 1:
            raise ValueError(
                "strategy ddp for compile reduce-overhead on several devices, for CUDA graphs of"
                " one process "
                f"cannot run in several threads, got {self.strategy!r}"
            )
        return self


class TrainParams(Section):
    """The `train` section of params.yaml."""

    distributed: DistributedParams
    runs: dict[Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]*$")], RunParams] = Field(min_length=1)


class Params(Section):
    """What `train` reads of params.yaml."""

    seed: Seed
    devices: DeviceParams
    train: TrainParams
