"""The params that `bench_hardware` reads."""

from typing import Annotated

from pydantic import Field

from lab.core.params import Section
from lab.core.shared_params import BenchParams, DeviceParams, Seed

Rows = Annotated[int, Field(ge=16, le=2**15)]
Images = Annotated[int, Field(ge=1, le=4096)]


class HardwareParams(Section):
    largest_working_set_mib: Annotated[int, Field(ge=1, le=4096)]
    matrix_size: Rows
    gpu_matrix_size: Rows
    copy_mib: Annotated[int, Field(ge=1, le=16_384)]
    batch_size: Images
    stem_batch_size: Images


class Params(Section):
    seed: Seed
    devices: DeviceParams
    bench: BenchParams
    bench_hardware: HardwareParams
