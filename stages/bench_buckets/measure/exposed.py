"""What overlap can hide: the model that sums are begun by full buckets, one after the other."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

from lab.results.stats import fit_line


@dataclass(frozen=True)
class SumCost:
    """Milliseconds that a sum takes: some by itself, and some for each byte."""

    each_ms: float
    ms_per_byte: float

    def ms(self, num_bytes: float) -> float:
        return self.each_ms + self.ms_per_byte * num_bytes


def fit_cost(num_bytes: int, ms_by_buckets: Mapping[int, float]) -> SumCost:
    """The cost that fits the times to sum the same bytes in several numbers of buckets.

    The line of least squares; neither part is below zero.

    Raises:
        ValueError: fewer than two numbers of buckets.
    """
    each, all_bytes = fit_line(list(ms_by_buckets), list(ms_by_buckets.values()))
    if each < 0:
        each, all_bytes = 0.0, fmean(ms_by_buckets.values())
    elif all_bytes < 0:  # the line through the origin
        dot = sum(count * ms for count, ms in ms_by_buckets.items())
        each, all_bytes = dot / sum(count**2 for count in ms_by_buckets), 0.0
    return SumCost(each, all_bytes / num_bytes)


def exposed_ms(
    ready_ms: Sequence[float], num_bytes: Sequence[float], cost: SumCost, pass_ms: float
) -> float:
    """Milliseconds of sums after the backward pass has ended.

    A bucket's sum begins when the bucket is full and the sum before it has ended.

    Args:
        ready_ms: when in the pass each bucket is full.
        num_bytes: of each bucket.
        cost: of a bucket's sum.
        pass_ms: when the pass ends.
    """
    ended = 0.0
    for full, size in zip(ready_ms, num_bytes, strict=True):
        ended = max(ended, full) + cost.ms(size)
    return max(0.0, ended - pass_ms)


def ready_by_half(ready_ms: Sequence[float], num_bytes: Sequence[float]) -> float:
    """Percent of the gradients' bytes that are ready when half of the backward pass is over."""
    half = max(ready_ms) / 2
    early = sum(size for at, size in zip(ready_ms, num_bytes, strict=True) if at <= half)
    return 100 * early / sum(num_bytes)
