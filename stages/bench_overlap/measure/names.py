"""The names of bench_overlap's experiments, variants and metrics."""

TIMES = "times"  # x: rows of the matrices
COMPUTE, COPIES, UPLOADS = "compute alone", "copies alone", "uploads alone"
PAGEABLE_COPIES, BOOK_COPIES = "pageable copies alone", "non_blocking copies alone"
ALONE = (COMPUTE, COPIES, PAGEABLE_COPIES, BOOK_COPIES, UPLOADS)
IN_TURN, BESIDE = "one after the other", "a copying thread beside the computing one"
PAGEABLE, BOOK = "pageable memory, blocking", "the book's non_blocking, one stream"
ONE_STREAM, TWO_STREAMS = "pinned buffers, one stream", "pinned buffers, second stream"
BOTH_DIRECTIONS = "pinned buffers, both directions at once"
ONLY_CUDA = (PAGEABLE, BOOK, ONE_STREAM, TWO_STREAMS, BOTH_DIRECTIONS)
PARTS = {  # what a variant does, each part timed alone: their sum is its time without overlap
    PAGEABLE: (COMPUTE, PAGEABLE_COPIES),
    BOOK: (COMPUTE, BOOK_COPIES),
    ONE_STREAM: (COMPUTE, COPIES),
    TWO_STREAMS: (COMPUTE, COPIES),
    BOTH_DIRECTIONS: (COMPUTE, COPIES, UPLOADS),
    IN_TURN: (COMPUTE, COPIES),
    BESIDE: (COMPUTE, COPIES),
}

# computing then copying, by the way that does both at once with the same copies
SAME_IN_TURN = {BESIDE: IN_TURN, TWO_STREAMS: ONE_STREAM}

BANDWIDTH = "bandwidth"  # of the copying variants of ALONE; x: rows of the matrices

OVERLAP = "overlap"  # fraction of each variant of PARTS; x: rows of the matrices
# the book's own comparison, which shows no overlap
AS_THE_BOOK = "the book's non_blocking, held against pageable copies"

TIMELINE = "timeline, "  # and the variant; its own variants are "<number> <kind>"; x: start in ms
COMPUTING, COPYING, UPLOADING = "compute", "copy", "upload"

CALL = "the book's non_blocking call, nothing else at work"  # x: rows of the matrices
RETURNS, ARRIVES = "call returns", "copies are there"

GRADIENTS = "gradient ready"  # its variants are LeNet's parameters; x: their number in order
BACKWARD = "backward pass"  # x: images
FIRST_READY, LAST_READY = "first gradient ready", "last gradient ready"

# on a GPU, over their launch
ONE_PRODUCT, ONE_PASS = "product", "LeNet's forward and backward pass"

# metrics; OVERLAP_FRACTION and SPEEDUP with _low, _high
BEST_VARIANT = "best_arm"  # of this kind of machine: TWO_STREAMS or BESIDE
OVERLAP_FRACTION = "overlap_fraction"  # of BEST_VARIANT
SPEEDUP = "speedup"  # of BEST_VARIANT over the same in turn
WORKLOAD = "workload"  # one of
NOTES, BALANCED, OWN = "the notes'", "balanced", "of another size"
NOTES_SIZE, NOTES_RESULTS = 4000, 50  # rows of the matrices, products
