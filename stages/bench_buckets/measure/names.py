"""The variants of `bench_buckets`, and its metric."""

AT_ONCE = "each bucket at once"  # when it is full
AT_LAST = "after the backward pass"
COMPUTING = "nothing summed"
SUMMING = "sums alone"

SPEEDUP = "resnet18_overlap_speedup"  # with _low, _high: AT_LAST over AT_ONCE
