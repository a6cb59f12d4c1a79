"""The questions and their places: first the one that sums up all others, then the book's order.

The ledger of claims follows this order; the index lists the questions under their headings.
"""

from typing import NamedTuple

HEADINGS = ("Everything together", "Optimization", "One machine", "Several devices")


class IndexEntry(NamedTuple):
    """A question's heading on the index, and its sections of the book."""

    heading: str
    sections: tuple[str, ...]


PLACES = {
    "together": IndexEntry("Everything together", ("13.5",)),
    "own_network": IndexEntry(
        "Everything together", ("13.1", "13.2", "13.3", "13.4", "13.5", "13.6")
    ),
    "landscapes": IndexEntry("Optimization", ("12.1",)),
    "optimizers": IndexEntry("Optimization", ("12.3", "12.6", "12.7", "12.8", "12.9", "12.10")),
    "schedules": IndexEntry("Optimization", ("12.11",)),
    "bench_compile": IndexEntry("One machine", ("13.1",)),
    "bench_async": IndexEntry("One machine", ("13.2",)),
    "bench_parallel": IndexEntry("Several devices", ("13.3",)),
    "bench_overlap": IndexEntry("One machine", ("13.3",)),
    "bench_hardware": IndexEntry("One machine", ("13.4",)),
    "bench_input": IndexEntry("One machine", ("13.5",)),
    "replicas": IndexEntry("Several devices", ("13.5", "13.6")),
    "parallelism": IndexEntry("Several devices", ("13.5", "13.7")),
    "convergence": IndexEntry("Several devices", ("13.5", "13.7")),
    "bench_training": IndexEntry("One machine", ("13.5", "13.6")),
    "scaling": IndexEntry("Several devices", ("13.3", "13.5", "13.7")),
    "train": IndexEntry("Several devices", ("13.5",)),
}
BOOK_ORDER = tuple(PLACES)
MOVED = {"bench_buckets": "scaling", "bench_collectives": "scaling"}  # old pages, which redirect
