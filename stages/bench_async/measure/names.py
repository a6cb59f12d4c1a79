"""The names of bench_async's experiments, variants and metrics."""

FIRST_PRODUCT = "first_product"  # x: rows of the matrices
NO_WARM_UP = "no warm-up"

PRODUCT = "product"  # x: rows of the matrices
CALL_RETURNS, RESULT_THERE = "call returns", "result there"

RUN_AHEAD = "run_ahead"  # x: operations in the series
WAITING_ONCE, WAITING_EACH = "waiting once", "waiting after each"
CALLS_RETURN, SERIES_DONE = "calls return", "all done"  # of the same calls

BLOCKER = "blocker"
NOTHING = "nothing"
SYNCHRONISE, ITEM, CPU, NONZERO, PRINT = "synchronise", ".item()", ".cpu()", "nonzero", "print"

DEPENDENCIES = "dependencies"
IN_ORDER, UNORDERED = "one stream", "another stream, no event"

BOOK = "book"  # the notes' ten products; x: rows of the matrices
BOOK_NUMPY, NOT_WAITED_FOR = "numpy, float64", "torch, not waited for"
WAITED_FOR, WRONG_GPU = "torch, waited for", "torch, another GPU waited for"
FAIR_NUMPY, FAIR_TORCH = "numpy, products alone", "torch, products alone"

BACK_END = "back_end"  # its share of the time of the notes' programs in percent
RANDOM_PRODUCT, ONES = "random product", "x * y + 2"

# on a GPU, over their launch
LARGEST_PRODUCT, ADDITION = "product of the largest matrices", "operation of the series"

# metrics; the ratios have an interval: _low, _high
RETURN_OVER_FINISH = "return_over_finish"  # of CALL_RETURNS to RESULT_THERE, largest size
BOOK_CLAIMS = "book_claims"  # speed-up of torch as the notes time it
NO_WARM_UP_OVER_STEADY = "no_warm_up_over_steady"  # the median over starts
