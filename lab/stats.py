"""Summaries of repeated measurements: medians with their spreads, and what is within the noise."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

NOISY_IQR_FRACTION = 0.10


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
    """Return median and quartiles (linear interpolation) of finite `samples`.

    Raises:
        ValueError: no samples, or one that is not finite.
    """
    values = np.asarray(samples, dtype=float)
    if values.size == 0 or not np.isfinite(values).all():
        raise ValueError(f"expected finite samples, got {list(samples)}")
    q1, median, q3 = np.percentile(values, [25, 50, 75])
    return Summary(float(median), float(q1), float(q3), values.size)


def exceeds_noise(old: float, new: float, old_iqr: float, new_iqr: float) -> bool:
    """Whether a median moved by more than its noise: three combined spreads, and at least 2 % of itself."""
    return abs(new - old) > max(3 * float(np.hypot(old_iqr, new_iqr)), 0.02 * abs(old))
