"""The order in which the book asks the stages' questions, after the one that sums them all up.

The page and the claims follow it.
"""

BOOK_ORDER = (
    "together",
    "landscapes",
    "optimizers",
    "schedules",
    "bench_compile",
    "bench_async",
    "bench_parallel",
    "bench_overlap",
    "bench_hardware",
    "bench_input",
    "replicas",
    "parallelism",
    "convergence",
    "bench_training",
    "bench_collectives",
    "bench_buckets",
    "scaling",
    "train",
)
