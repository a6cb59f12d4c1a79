"""What `bench_compile` reads of params.yaml, and the names that its rows have."""

from typing import Annotated

from pydantic import Field

from lab.core.params import Section
from lab.core.shared_params import BenchParams, DeviceParams, Seed

EAGER, INFERENCE = "eager", "eager, inference mode"
SCRIPT, FROZEN = "TorchScript", "frozen TorchScript"
COMPILE, GRAPH = "torch.compile", "CUDA graph"
EXPORT, AOT = "torch.export", "AOTInductor"
WEIGHTS = "weights only"  # as a saved form
BUILT_FORMS = (EAGER, INFERENCE, SCRIPT, FROZEN, COMPILE, GRAPH, AOT)
COMPILED_FORMS = (SCRIPT, FROZEN, COMPILE, GRAPH, AOT, EXPORT, WEIGHTS)  # as the page has them
SAVED_FORMS = (WEIGHTS, SCRIPT, EXPORT, AOT)
FIRST_SCRIPT = "first TorchScript call of the process"
NETS = ("MLP", "LeNet", "16 layers")

BatchSizes = Annotated[
    list[Annotated[int, Field(ge=1, le=2**20)]], Field(min_length=1, max_length=8)
]


class CompileParams(Section):
    batch_sizes: BatchSizes
    case_batch_sizes: BatchSizes
    compilers: bool


class Params(Section):
    seed: Seed
    devices: DeviceParams
    bench: BenchParams
    bench_compile: CompileParams
