"""The names of bench_parallel's demos, arms and metrics."""

PRODUCTS = "products"  # x: rows of the matrices
FIRST, SECOND = "first alone", "second alone"
ONE_AFTER_THE_OTHER, TOGETHER = "one after the other", "together"

LONGER_SECOND = "products, second job longer"  # x: rows of the matrices
CURRENT_WAITED_FOR = "together, current GPU waited for"
BOTH_WAITED_FOR = "together, both waited for"

# metrics; of the largest matrices and, SMALL_, of the smallest
SPEEDUP = "speedup"  # of TOGETHER over ONE_AFTER_THE_OTHER; with _low, _high
SPEEDUP_BOUND = "speedup_bound"  # the sum of both alone over the longer of them
SMALL_SPEEDUP = "small_speedup"
