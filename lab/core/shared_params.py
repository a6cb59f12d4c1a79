"""Sections of params.yaml, and types of values, that several stages share; no torch."""

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from lab.core.params import Section

LOOPBACK = "127.0.0.1"
MOST_PORT = 65_535

Seed = Annotated[
    int, Field(ge=0, lt=2**31, description="of the weights and of the order of the images")
]
Rows = Annotated[int, Field(ge=2, le=2**15)]  # of a square matrix
# default: torch's own, with TensorFloat-32 in a GPU's convolutions and float32 elsewhere
Precision = Literal["fp32", "tf32", "bf16", "default"]
# the last one: bf16 on what computes in it, else fp32
RunPrecision = Literal["fp32", "tf32", "bf16", "default", "bf16_if_fast"]
NetName = Literal["lenet", "lenet_he", "resnet18", "mlp", "convnet", "convnet_deep"]
Stem = Literal["small", "original"]  # of ResNet-18
# torch.compile's modes; reduce-overhead with CUDA graphs, the last one with more trials of kernels
Compile = Literal["none", "default", "reduce-overhead", "max-autotune-no-cudagraphs"]

CpuThreads = Literal["auto", "all"]  # of a run's devices: as `devices` says, or all cores
ScheduleName = Literal["constant", "one_cycle"]
Augmentation = Literal["none", "shift"]


class DeviceParams(Section):
    """The `devices` section of params.yaml."""

    cpu_threads: Literal["auto"] | Annotated[int, Field(ge=1, le=1024)]


class BenchParams(Section):
    """The `bench` section of params.yaml, shared by the benchmark stages."""

    starts: Annotated[int, Field(ge=1, le=1000)]  # an interval of 99 % needs 4
    rounds: Annotated[int, Field(ge=1, le=1000)]
    min_sample_ms: Annotated[float, Field(gt=0, le=1000)]


class DistributedParams(Section):
    """The `train.distributed` section of params.yaml: how processes of `ddp` find each other."""

    nnodes: Annotated[int, Field(ge=1, le=64)]
    rdzv_endpoint: Annotated[
        str, Field(pattern=r"^[\w.-]+:\d{1,5}$", max_length=260, description="host:port")
    ]
    timeout_s: Annotated[int, Field(ge=1, le=86_400)]

    @model_validator(mode="after")
    def _nodes_know_the_port(self) -> Self:
        port = int(self.rdzv_endpoint.rpartition(":")[2])
        if port > MOST_PORT:
            raise ValueError(f"an rdzv_endpoint with a port of at most {MOST_PORT}, got {port}")
        if self.nnodes > 1 and port == 0:
            raise ValueError(
                f"an rdzv_endpoint with a port for {self.nnodes} nodes, got {self.rdzv_endpoint!r}"
            )
        return self

    @property
    def on_loopback(self) -> bool:
        """Whether all processes are on this host."""
        return self.nnodes == 1 or self.rdzv_endpoint.rpartition(":")[0] in (LOOPBACK, "localhost")
