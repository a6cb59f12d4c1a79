"""What `bench_overlap` reads of params.yaml, and the names that its rows have."""

from typing import Annotated, Literal

from pydantic import Field

from lab.core.params import Section
from lab.core.shared_params import BenchParams, DeviceParams, Seed

ALONE = (
    "computing only",
    "copying only",
    "copying only, pageable memory",
    "copying only, non_blocking",
    "uploading only",
)
BESIDE = "concurrently, two threads"
TWO_STREAMS = "pinned memory, two streams"
PARTS = {  # what a variant does, each part timed alone: their sum is its time without overlap
    "pageable memory, one stream": ("computing only", "copying only, pageable memory"),
    "the notes' non_blocking, one stream": ("computing only", "copying only, non_blocking"),
    "pinned memory, one stream": ("computing only", "copying only"),
    TWO_STREAMS: ("computing only", "copying only"),
    "pinned memory, both directions": ("computing only", "copying only", "uploading only"),
    "sequentially": ("computing only", "copying only"),
    BESIDE: ("computing only", "copying only"),
}
# computing then copying, by the variant that does both at once with the same copies
SAME_IN_TURN = {BESIDE: "sequentially", TWO_STREAMS: "pinned memory, one stream"}
# the book's own comparison, which shows no overlap
AS_THE_BOOK = "the book's comparison"


class OverlapParams(Section):
    size: Annotated[int, Field(ge=16, le=2**14)]
    num_results: Annotated[int, Field(ge=4, le=1000)]
    balanced: bool

    @property
    def workload(self) -> Literal["the notes'", "balanced", "of another size"]:
        """What is computed and copied."""
        if self.balanced:
            return "balanced"
        return "the notes'" if (self.size, self.num_results) == (4000, 50) else "of another size"


class Params(Section):
    seed: Seed
    devices: DeviceParams
    bench: BenchParams
    bench_overlap: OverlapParams
