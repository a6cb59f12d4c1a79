"""What `bench_hardware` reads of params.yaml."""

from typing import Annotated

from pydantic import Field

from lab.core.params import Section
from lab.core.shared_params import BenchParams, DeviceParams, Seed


class HardwareParams(Section):
    """The `bench_hardware` section of params.yaml."""

    largest_working_set_mib: Annotated[int, Field(ge=1, le=4096)]
    matrix_size: Annotated[int, Field(ge=16, le=2**15)]
    gpu_matrix_size: Annotated[int, Field(ge=16, le=2**15)]
    copy_mib: Annotated[int, Field(ge=1, le=16_384)]
    batch_size: Annotated[int, Field(ge=1, le=4096)]
    stem_batch_size: Annotated[int, Field(ge=1, le=4096)]


class Params(Section):
    """What `bench_hardware` reads of params.yaml."""

    seed: Seed
    devices: DeviceParams
    bench: BenchParams
    bench_hardware: HardwareParams
