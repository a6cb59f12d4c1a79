"""The order in which the book asks the stages' questions: that of the page, of the claims and of
the README.
"""

BOOK_ORDER = (
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
    "scaling",
    "train",
)
