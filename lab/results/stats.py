"""Medians of repeated measurements with their spreads and intervals, and what is mere noise."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import comb
from typing import Literal

import numpy as np

NOISY_IQR_FRACTION = 0.10
CONFIDENCE = 0.99  # of a ratio's interval, from 8 samples on
SMALLEST_EFFECT = 0.02  # a ratio within 2 % of 1 is no speed-up, however sure


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


def exceeds_noise(old: float, new: float, old_iqr: float, new_iqr: float) -> bool:
    """Whether a median moved by more than three combined spreads, and by over 2 % of itself."""
    noise = 3 * float(np.hypot(old_iqr, new_iqr))
    return abs(new - old) > max(noise, SMALLEST_EFFECT * abs(old))


@dataclass(frozen=True)
class Ratio:
    """A median ratio with its interval; a speed-up if it is over 1."""

    median: float
    low: float
    high: float

    @property
    def verdict(self) -> Literal["faster", "slower", "inconclusive"]:
        """What may be claimed: nothing as long as the interval comes near 1."""
        if self.low > 1 + SMALLEST_EFFECT:
            return "faster"
        return "slower" if self.high < 1 / (1 + SMALLEST_EFFECT) else "inconclusive"


def speedup(old: Sequence[float], new: Sequence[float]) -> Ratio:
    """How many times faster `new` is than `old`: the median of old[i] / new[i], taken side by side.

    The interval is the sign test's, which assumes nothing of the distribution: from 8 pairs on it
    holds the true median with 99 % confidence, from fewer (their whole range) with less.

    Raises:
        ValueError: no pairs, differing lengths, or a time that is not positive and finite.
    """
    return median_ratio(paired_ratios(old, new))


def paired_ratios(old: Sequence[float], new: Sequence[float]) -> list[float]:
    """old[i] / new[i] of times that were measured side by side.

    Raises:
        ValueError: differing lengths, or a time that is not positive and finite.
    """
    if len(old) != len(new) or not all(np.isfinite(t) and t > 0 for t in (*old, *new)):
        raise ValueError(f"expected pairs of positive times, got {list(old)} and {list(new)}")
    return [a / b for a, b in zip(old, new, strict=True)]


def median_ratio(ratios: Sequence[float]) -> Ratio:
    """The median of paired ratios with the sign test's interval, as for `speedup`."""
    ordered = sorted(ratios)
    dropped = _outer_samples(len(ordered))
    return Ratio(summarise(ordered).median, ordered[dropped], ordered[-1 - dropped])


def fit_line(counts: Sequence[float], times: Sequence[float]) -> tuple[float, float]:
    """Slope and intercept of times = slope * counts + intercept, by least squares.

    The errors are relative, since counts span decades: absolute ones are those of the largest.
    """
    x, y = np.asarray(counts, dtype=float), np.asarray(times, dtype=float)
    slope, intercept = np.linalg.lstsq(np.stack([x / y, 1 / y], 1), np.ones(len(y)), rcond=None)[0]
    return float(slope), float(intercept)


def _outer_samples(count: int) -> int:
    """How many of `count` ordered samples lie outside their median's interval on each side."""
    outside, dropped = 2 * 0.5**count, 0
    while outside + 2 * comb(count, dropped + 1) * 0.5**count <= 1 - CONFIDENCE:
        dropped += 1
        outside += 2 * comb(count, dropped) * 0.5**count
    return dropped
