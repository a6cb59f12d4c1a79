"""What `bench_overlap` reads of params.yaml."""

from typing import Annotated

from pydantic import Field

from lab.core.params import Section
from lab.core.shared_params import BenchParams, DeviceParams, Seed
from stages.bench_overlap.measure import names


class OverlapParams(Section):
    """The `bench_overlap` section of params.yaml."""

    size: Annotated[int, Field(ge=16, le=2**14)]
    num_results: Annotated[int, Field(ge=4, le=1000)]
    balanced: bool

    @property
    def workload(self) -> str:
        """What is computed and copied, in a word: one of names.NOTES, BALANCED and OWN."""
        if self.balanced:
            return names.BALANCED
        notes = (self.size, self.num_results) == (names.NOTES_SIZE, names.NOTES_RESULTS)
        return names.NOTES if notes else names.OWN


class Params(Section):
    """What `bench_overlap` reads of params.yaml."""

    seed: Seed
    devices: DeviceParams
    bench: BenchParams
    bench_overlap: OverlapParams
