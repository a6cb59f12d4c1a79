"""Medians of repeated measurements with their spreads and intervals, and limits of mere noise."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

NOISY_IQR_FRACTION = 0.10
CONFIDENCE = 0.99  # of an interval that a verdict may rest on
FEWEST = 4  # samples that reach this level
SMALLEST_EFFECT = 0.02  # a ratio within 2 % of 1 is no speed-up, however certain


@dataclass(frozen=True)
class Range:
    """The numbers from `low` to `high`, both included."""

    low: float = -math.inf
    high: float = math.inf

    @property
    def template(self) -> str:
        """The range in words, as a translatable format string with `low` and `high`."""
        if math.isinf(self.high):
            return "at least {low:g}"
        if math.isinf(self.low):
            return "at most {high:g}"
        return "exactly {low:g}" if self.low == self.high else "{low:.4g} to {high:.4g}"

    def __str__(self) -> str:
        return self.template.format(low=self.low, high=self.high)


# possible values of quantities
POSITIVE = Range(low=0)  # times, rates, counts, errors, and their ratios
PERCENT = Range(0, 100)  # shares of a whole
ANY = Range()  # differences


@dataclass(frozen=True)
class Summary:
    """Median and quartiles of at least one sample, in the samples' unit."""

    median: float
    q1: float
    q3: float
    count: int

    @property
    def iqr(self) -> float:
        return self.q3 - self.q1

    @property
    def noisy(self) -> bool:
        """Whether the interquartile range is over a tenth of the median."""
        return self.iqr > NOISY_IQR_FRACTION * abs(self.median)


def summarise(samples: Sequence[float]) -> Summary:
    """Return the median and quartiles (linear interpolation) of finite `samples`.

    Raises:
        ValueError: there are no samples, or one is not finite.
    """
    values = np.asarray(samples, dtype=float)
    if values.size == 0 or not np.isfinite(values).all():
        raise ValueError(f"expected finite samples, got {list(samples)}")
    q1, median, q3 = np.percentile(values, [25, 50, 75])
    return Summary(float(median), float(q1), float(q3), values.size)


def median_interval(samples: Sequence[float], possible: Range) -> tuple[float, float]:
    """Return the ends of an interval that holds the true median with the chance `median_level`.

    For 8 samples or more this is the sign test's interval, which assumes nothing about the
    distribution. Fewer samples all lie on one side of the median too often, so their range is
    widened on each side by `widening` times itself. This assumes a density that falls off from the
    median on either side.

    If a quantity cannot be negative, the range of its logarithms is widened. So no end is negative,
    and the intervals of a / b and b / a agree. The interval leaves out impossible values.
    """
    low, high, wider = *_inner_range(samples), widening(len(samples))
    if possible.low >= 0 and low > 0:
        factor = (high / low) ** wider
        low, high = low / factor, high * factor
    else:
        low, high = low - wider * (high - low), high + wider * (high - low)
    return max(low, possible.low), min(high, possible.high)


def median_level(count: int) -> float:
    """Return the chance that the interval from `count` samples holds the true median.

    99.2 % for 8 samples, 99 % for 4 to 7, 75 % for the range of 3, 0 for one sample.
    """
    if widening(count):
        return CONFIDENCE
    outside = _outer_samples(count)
    beyond = sum(math.comb(count, i) for i in range(outside + 1))
    return 1 - 2 * beyond / (1 << count)


def false_speedup_bound(over: int, under: int, starts: int, group: int) -> float:
    """Return an upper bound of the chance that `group` starts show a false speed-up.

    Of `starts` ratios of a variant to itself, `over` were above 1 + SMALLEST_EFFECT and `under`
    were below its inverse. A group shows a false speed-up if all its ratios lie on one side, except
    those that its interval drops. Starts are independent. The chance of each side is the upper end
    of its two-sided 95 % interval (Clopper and Pearson 1934).
    """
    needed = group - _outer_samples(group)

    def at_least_needed(chance: float) -> float:
        return sum(
            math.comb(group, k) * chance**k * (1 - chance) ** (group - k)
            for k in range(needed, group + 1)
        )

    return min(1.0, sum(at_least_needed(largest_chance(n, starts)) for n in (over, under)))


def largest_chance(hits: int, trials: int, doubt: float = 0.025) -> float:
    """Return the chance at which `hits` or fewer in `trials` have the probability `doubt`."""
    if hits >= trials:
        return 1.0
    low, high = hits / trials, 1.0
    for _ in range(60):
        middle = (low + high) / 2
        tail = sum(
            math.comb(trials, k) * middle**k * (1 - middle) ** (trials - k) for k in range(hits + 1)
        )
        low, high = (middle, high) if tail > doubt else (low, middle)
    return high


def difference_interval(
    one: tuple[float, float, float], other: tuple[float, float, float]
) -> tuple[float, float]:
    """Return the ends of the interval of one - other, each given as (value, low, high).

    Combine two intervals of one level into an interval of that level for the difference, by the
    method of variance estimates recovery (Zou and Donner 2008, equation 1). Distances to the ends
    add up in quadrature. Two numbers may differ although their 99 % intervals overlap.
    """
    (a, a_low, a_high), (b, b_low, b_high) = one, other
    low = a - b - math.hypot(a - a_low, b_high - b)
    return low, a - b + math.hypot(a_high - a, b - b_low)


def fit_line(counts: Sequence[float], times: Sequence[float]) -> tuple[float, float]:
    """Fit times = slope * counts + intercept by least squares; return slope and intercept.

    Errors are relative: counts span decades, and the largest would dominate absolute errors.
    """
    x, y = np.asarray(counts, dtype=float), np.asarray(times, dtype=float)
    slope, intercept = np.linalg.lstsq(np.stack([x / y, 1 / y], 1), np.ones(len(y)), rcond=None)[0]
    return float(slope), float(intercept)


def _inner_range(samples: Sequence[float]) -> tuple[float, float]:
    """Return the range of the samples without those outside their median's interval."""
    ordered, outside = sorted(samples), _outer_samples(len(samples))
    return ordered[outside], ordered[-1 - outside]


def _outer_samples(count: int) -> int:
    """Return how many of `count` ordered samples lie outside the interval on each side."""
    outside, dropped = 2 * 0.5**count, 0
    while outside + 2 * math.comb(count, dropped + 1) * 0.5**count <= 1 - CONFIDENCE:
        dropped += 1
        outside += 2 * math.comb(count, dropped) * 0.5**count
    return dropped


def widening(count: int) -> float:
    """Return t: the range of `count` samples is widened by t times itself on each side.

    If the density falls off from the median, all samples lie on one side of it, and farther away
    than t times their range, with probability (2 (1 + t)) ** (1 - count) at most.
    """
    if count < FEWEST:
        return 0.0
    return max(0.0, float((1 - CONFIDENCE) ** (-1 / (count - 1))) / 2 - 1)
