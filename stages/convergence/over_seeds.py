"""What the seeds of a rule say together: their epochs to the target, with median and range."""

from collections.abc import Iterable
from statistics import median_high

import numpy as np
from numpy.typing import NDArray

from lab.results.curves import Curve
from stages.convergence.names import rule_of


def epochs_of(curves: Iterable[Curve], rule: str) -> NDArray[np.float64]:
    """Epochs (seeds, batch sizes) to the target; infinity for a run that did not reach it."""
    found = np.array([c.y for c in curves if rule_of(c.series) == rule])
    return np.where(np.isfinite(found), found, np.inf)


def median_and_range(values: Iterable[float]) -> tuple[float, float, float]:
    """Median (of an even number the higher middle), smallest, largest; infinity is the largest."""
    ordered = sorted(float(value) for value in values)
    return median_high(ordered), ordered[0], ordered[-1]
