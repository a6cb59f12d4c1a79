"""The names of bench_parallel's experiments, variants and metrics."""

PRODUCTS = "products"  # x: rows of the matrices
FIRST, SECOND = "first alone", "second alone"
ONE_AFTER_THE_OTHER, TOGETHER = "one after the other", "together"
ONE_PRODUCT = "product of the largest matrices"  # on a GPU, over its launch

WARM_UP = "warm-up"  # x: rows of the matrices
FIRST_RUN, SECOND_RUN, LATER_RUN = "first run", "second run", "later runs"

DEPENDENCIES = "dependencies"  # x: rows of the matrices
ONE_DEVICE, DEPENDENT = "dependent, one device", "dependent, two devices"
INDEPENDENT = "independent, two devices"

LONGER_SECOND = "products, second job longer"  # x: rows of the matrices
NO_ARGUMENT = "wait without an argument"
CURRENT_WAITED_FOR, BOTH_WAITED_FOR = "wait for the current GPU", "wait for both GPUs"

NOTES_RUN = "the notes' run"  # counts
PRODUCTS_OF_A_RUN = "products of a run"

# metrics; of the largest matrices and, SMALL_, of the smallest; ratios with _low, _high
SPEEDUP = "speedup"  # of TOGETHER over ONE_AFTER_THE_OTHER
SPEEDUP_BOUND = "speedup_bound"  # the sum of both alone over the longer of them
SMALL_SPEEDUP = "small_speedup"
