"""Medians of repeated measurements with their spreads and intervals, and what is mere noise."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

NOISY_IQR_FRACTION = 0.10
CONFIDENCE = 0.99  # of an interval that a verdict may rest on
FEWEST = 4  # samples that reach it
SMALLEST_EFFECT = 0.02  # a ratio within 2 % of 1 is no speed-up, however sure


@dataclass(frozen=True)
class Range:
    """The numbers from `low` to `high`, both included."""

    low: float = -math.inf
    high: float = math.inf

    @property
    def template(self) -> str:
        """The range in words, `low` and `high` to be filled in: a message that is translated."""
        if math.isinf(self.high):
            return "at least {low:g}"
        if math.isinf(self.low):
            return "at most {high:g}"
        return "exactly {low:g}" if self.low == self.high else "{low:.4g} to {high:.4g}"

    def __str__(self) -> str:
        """The range in English words."""
        return self.template.format(low=self.low, high=self.high)


# the values that quantities can have
POSITIVE = Range(low=0)  # times, rates, counts, errors, and their ratios
PERCENT = Range(0, 100)  # shares of a whole
ANY = Range()  # differences


@dataclass(frozen=True)
class Summary:
    """Median and quartiles of at least one sample, in the samples' own unit."""

    median: float
    q1: float
    q3: float
    count: int

    @property
    def iqr(self) -> float:
        """Interquartile range, the spread that goes with the median."""
        return self.q3 - self.q1

    @property
    def noisy(self) -> bool:
        """Whether the spread is over a tenth of the median: read such a number with care."""
        return self.iqr > NOISY_IQR_FRACTION * abs(self.median)


def summarise(samples: Sequence[float]) -> Summary:
    """Median and quartiles (linear interpolation) of finite `samples`.

    Raises:
        ValueError: no samples, or one that is not finite.
    """
    values = np.asarray(samples, dtype=float)
    if values.size == 0 or not np.isfinite(values).all():
        raise ValueError(f"expected finite samples, got {list(samples)}")
    q1, median, q3 = np.percentile(values, [25, 50, 75])
    return Summary(float(median), float(q1), float(q3), values.size)


def median_interval(samples: Sequence[float], possible: Range) -> tuple[float, float]:
    """The ends between which the true median lies with the chance `median_level`.

    From 8 samples on it is the sign test's, which assumes nothing of the distribution. Fewer
    samples all lie on one side of the median too often, so their range is widened on each side by
    `widening` times itself. That assumes a density that falls off from the median on either side:
    of n samples on one side, their largest given, each of the others is uniform below it at worst,
    so that all lie in the upper part of it with a chance that a power tells.

    A quantity that cannot be negative is widened by a factor, as if its logarithms were the
    samples: no end is negative, and a / b and b / a have one interval. What is not possible is no
    part of an interval.
    """
    low, high, wider = *_inner_range(samples), widening(len(samples))
    if possible.low >= 0 and low > 0:
        factor = (high / low) ** wider
        low, high = low / factor, high * factor
    else:
        low, high = low - wider * (high - low), high + wider * (high - low)
    return max(low, possible.low), min(high, possible.high)


def median_level(count: int) -> float:
    """The chance with which the interval of `count` samples' median holds the true median.

    99.2 % for 8 samples, 99 % for 4 to 7, 75 % for the range of 3, 0 for one sample.
    """
    if widening(count):
        return CONFIDENCE
    outside = _outer_samples(count)
    beyond = sum(math.comb(count, i) for i in range(outside + 1))
    return 1 - 2 * beyond / (1 << count)


def false_speedup_bound(over: int, under: int, starts: int, group: int) -> float:
    """The chance, at most, that `group` starts of a variant against itself show a speed-up.

    Of `starts` ratios of a variant to itself `over` were above 1 + SMALLEST_EFFECT and `under`
    below its inverse. A group shows a false speed-up if all its ratios but those that its interval
    drops lie on one side. Starts are independent; the chance of each side is taken at the upper end
    of its 95 % interval (Clopper and Pearson 1934), both ends together.
    """
    needed = group - _outer_samples(group)

    def at_least_needed(chance: float) -> float:
        return sum(
            math.comb(group, k) * chance**k * (1 - chance) ** (group - k)
            for k in range(needed, group + 1)
        )

    return min(1.0, sum(at_least_needed(largest_chance(n, starts)) for n in (over, under)))


def largest_chance(hits: int, trials: int, doubt: float = 0.025) -> float:
    """The chance for which `hits` or fewer in `trials` have the probability `doubt`."""
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
    """The ends of the interval of one - other, each given as (value, low, high).

    From two intervals of the same level one of that level for their difference, by the method of
    variance estimates recovery (Zou and Donner 2008, equation 1): distances to the ends add up as
    errors of independent numbers do. Two 99 % intervals may overlap and yet differ.
    """
    (a, a_low, a_high), (b, b_low, b_high) = one, other
    low = a - b - math.hypot(a - a_low, b_high - b)
    return low, a - b + math.hypot(a_high - a, b - b_low)


def fit_line(counts: Sequence[float], times: Sequence[float]) -> tuple[float, float]:
    """Slope and intercept of times = slope * counts + intercept, by least squares.

    The errors are relative, since counts span decades: absolute ones are those of the largest.
    """
    x, y = np.asarray(counts, dtype=float), np.asarray(times, dtype=float)
    slope, intercept = np.linalg.lstsq(np.stack([x / y, 1 / y], 1), np.ones(len(y)), rcond=None)[0]
    return float(slope), float(intercept)


def _inner_range(samples: Sequence[float]) -> tuple[float, float]:
    """The range of samples without those that lie outside their median's interval."""
    ordered, outside = sorted(samples), _outer_samples(len(samples))
    return ordered[outside], ordered[-1 - outside]


def _outer_samples(count: int) -> int:
    """How many of `count` ordered samples lie outside their median's interval on each side."""
    outside, dropped = 2 * 0.5**count, 0
    while outside + 2 * math.comb(count, dropped + 1) * 0.5**count <= 1 - CONFIDENCE:
        dropped += 1
        outside += 2 * math.comb(count, dropped) * 0.5**count
    return dropped


def widening(count: int) -> float:
    """By how many times itself the range of `count` samples is widened on each side.

    Their chance to lie on one side of the median, farther from it than so many times their range,
    is (2 (1 + t)) to the power 1 - count.
    """
    if count < FEWEST:
        return 0.0
    return max(0.0, float((1 - CONFIDENCE) ** (-1 / (count - 1))) / 2 - 1)
