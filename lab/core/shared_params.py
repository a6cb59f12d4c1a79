"""Sections of params.yaml and types of values that several stages share; no torch."""

from typing import Annotated, Literal

from pydantic import Field

from lab.core.params import Section

LOOPBACK = "127.0.0.1"

Seed = Annotated[
    int, Field(ge=0, lt=2**31, description="of the weights and of the order of the images")
]
Rows = Annotated[int, Field(ge=2, le=2**15)]  # of a square matrix
# default: torch's own, which is TensorFloat-32 in a GPU's convolutions and float32 elsewhere
Precision = Literal["fp32", "tf32", "bf16", "default"]
# bf16_if_fast: bf16 on devices that have instructions for it, else fp32
RunPrecision = Literal["fp32", "tf32", "bf16", "default", "bf16_if_fast"]
NetName = Literal["lenet", "lenet_he", "resnet18", "mlp", "convnet", "convnet_deep"]
Stem = Literal["small", "original"]  # of ResNet-18
# torch.compile's modes: reduce-overhead uses CUDA graphs, max-autotune tries more kernels
Compile = Literal["none", "default", "reduce-overhead", "max-autotune-no-cudagraphs"]

CpuThreads = Literal["auto", "all"]  # of a run's devices: by the `devices` section, or all cores
ScheduleName = Literal["constant", "one_cycle"]
Augmentation = Literal["none", "shift"]


class DeviceParams(Section):
    """The `devices` section of params.yaml."""

    cpu_threads: Literal["auto"] | Annotated[int, Field(ge=1, le=1024)]


class BenchParams(Section):
    """The `bench` section of params.yaml, shared by the benchmark stages."""

    starts: Annotated[int, Field(ge=1, le=1000)]  # 8 decide without an assumption, 4 with it
    rounds: Annotated[int, Field(ge=1, le=1000)]
    min_sample_ms: Annotated[float, Field(gt=0, le=1000)]
