"""The variants of `bench_buckets`."""

AT_ONCE = "each bucket at once"  # when it is full
AT_LAST = "after the backward pass"
COMPUTING = "nothing summed"
SUMMING = "sums alone"
