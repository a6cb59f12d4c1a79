"""What the experiments of `bench_overlap` and their variants are called in its rows."""

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
