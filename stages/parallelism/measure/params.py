"""What `parallelism` reads of params.yaml, and the names that its rows have."""

from typing import Annotated, Self

from pydantic import Field, model_validator

from lab.core.params import Section
from lab.core.shared_params import BenchParams, DeviceParams, Seed

# nets, and kinds of parallelism by hand
LENET, DENSE = "LeNet", "four dense layers"
ONE, DATA, PIPELINE, TENSOR = "one device", "data parallel", "pipeline", "tensor parallel"

# ways to sum
NOTES_ALLREDUCE, SHARDED_ALLREDUCE = "one device adds (the notes)", "each device adds a share"

# networks
SMALL_RESNET_18 = "ResNet-18 (28 x 28)"
ALEXNET, GOOGLENET, INCEPTION_V3 = "AlexNet", "GoogLeNet (Inception v1)", "Inception v3"
RESNET_18, RESNET_50 = "ResNet-18", "ResNet-50"
RANKED = ((GOOGLENET, INCEPTION_V3), (RESNET_18, RESNET_50), (ALEXNET,))  # by the notes

# metrics: the closest pair of each two neighbours of the notes' ranking
INCEPTION_OVER_RESNET = "flop_per_byte_inception_over_resnet"
RESNET_OVER_ALEXNET = "flop_per_byte_resnet_over_alexnet"


NUM_LAYERS = 4  # of LeNet: a device of a pipeline has one at least


class ParallelismParams(Section):
    num_devices: list[Annotated[int, Field(ge=2, le=NUM_LAYERS)]] = Field(min_length=1)
    batch_sizes: list[Annotated[int, Field(ge=4, le=4096)]] = Field(min_length=2, max_length=2)
    num_micro_batches: Annotated[int, Field(ge=2, le=4)]
    wide_units: Annotated[int, Field(ge=4, le=65_536)]

    @model_validator(mode="after")
    def _grow(self) -> Self:
        if self.batch_sizes != sorted(set(self.batch_sizes)):
            raise ValueError(f"two growing batch_sizes, got {self.batch_sizes}")
        return self


class Params(Section):
    seed: Seed
    devices: DeviceParams
    bench: BenchParams
    parallelism: ParallelismParams
