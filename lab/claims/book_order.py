"""The questions in the book's order, after the one that sums them all up, and their headings.

The ledger of claims follows the order of the stages; the page has them under their headings.
"""

HEADINGS = ("Results", "Optimization", "One machine", "Many devices", "Training", "Data")
HEADING_OF = {
    "together": "Results",
    "landscapes": "Optimization",
    "optimizers": "Optimization",
    "schedules": "Optimization",
    "bench_compile": "One machine",
    "bench_async": "One machine",
    "bench_parallel": "Many devices",
    "bench_overlap": "Many devices",
    "bench_hardware": "One machine",
    "bench_input": "Data",
    "replicas": "Many devices",
    "parallelism": "Many devices",
    "convergence": "Training",
    "bench_training": "Training",
    "bench_collectives": "Many devices",
    "bench_buckets": "Many devices",
    "scaling": "Many devices",
    "train": "Training",
}
BOOK_ORDER = tuple(HEADING_OF)
