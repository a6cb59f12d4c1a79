"""The names of `bench_overlap`'s variants in its rows."""

ALONE = (
    "computing only",
    "copying only",
    "copying only, pageable memory",
    "copying only, non_blocking",
    "uploading only",
)
CONCURRENT = "concurrently, two threads"
TWO_STREAMS = "pinned memory, two streams"
PARTS = {  # each variant's parts, timed separately: their sum is its time without overlap
    "pageable memory, one stream": ("computing only", "copying only, pageable memory"),
    "the notes' non_blocking, one stream": ("computing only", "copying only, non_blocking"),
    "pinned memory, one stream": ("computing only", "copying only"),
    TWO_STREAMS: ("computing only", "copying only"),
    "pinned memory, both directions": ("computing only", "copying only", "uploading only"),
    "sequentially": ("computing only", "copying only"),
    CONCURRENT: ("computing only", "copying only"),
}
# by concurrent variant: the sequential one with the same copies
SAME_IN_TURN = {CONCURRENT: "sequentially", TWO_STREAMS: "pinned memory, one stream"}
# the book's own comparison, which shows no overlap
AS_THE_BOOK = "the book's comparison"
