"""The params that `bench_overlap` reads."""

from typing import Annotated, Literal

from pydantic import Field

from lab.core.params import Section
from lab.core.shared_params import BenchParams, DeviceParams, Seed


class OverlapParams(Section):
    size: Annotated[int, Field(ge=16, le=2**14)]
    num_results: Annotated[int, Field(ge=4, le=1000)]
    balanced: bool

    @property
    def workload(self) -> Literal["the notes'", "balanced", "of another size"]:
        """Name what is computed and copied."""
        if self.balanced:
            return "balanced"
        return "the notes'" if (self.size, self.num_results) == (4000, 50) else "of another size"


class Params(Section):
    seed: Seed
    devices: DeviceParams
    bench: BenchParams
    bench_overlap: OverlapParams
