"""The variants of bench_overlap by what they do; no torch."""

ALONE = (
    "compute alone",
    "copies alone",
    "pageable copies alone",
    "non_blocking copies alone",
    "uploads alone",
)
BESIDE = "a copying thread beside the computing one"
TWO_STREAMS = "pinned buffers, second stream"
PARTS = {  # what a variant does, each part timed alone: their sum is its time without overlap
    "pageable memory, blocking": ("compute alone", "pageable copies alone"),
    "the book's non_blocking, one stream": ("compute alone", "non_blocking copies alone"),
    "pinned buffers, one stream": ("compute alone", "copies alone"),
    TWO_STREAMS: ("compute alone", "copies alone"),
    "pinned buffers, both directions at once": ("compute alone", "copies alone", "uploads alone"),
    "one after the other": ("compute alone", "copies alone"),
    BESIDE: ("compute alone", "copies alone"),
}
# computing then copying, by the variant that does both at once with the same copies
SAME_IN_TURN = {BESIDE: "one after the other", TWO_STREAMS: "pinned buffers, one stream"}
# the book's own comparison, which shows no overlap
AS_THE_BOOK = "the book's non_blocking, held against pageable copies"
