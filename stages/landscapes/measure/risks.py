"""Risk against empirical risk (12.1.1): the book's functions, and samples of n examples."""

from collections.abc import Iterator, Sequence

import numpy as np

from lab.optim import objectives
from lab.results.curves import Curve, curve, line
from stages.landscapes.measure import names

RANGE = (0.5, 1.5)  # where the book draws risk and empirical risk
SIGMA = 1.0  # of the phases of `sampled_risk`: an example's own minimum may lie anywhere in RANGE


def risks() -> Iterator[Curve]:
    """Risk and empirical risk over the book's range, and each one's minimum."""
    x = np.arange(*RANGE, 0.01)
    for name, function in (
        (names.RISK, objectives.risk),
        (names.EMPIRICAL_RISK, objectives.empirical_risk),
    ):
        yield line(names.RISKS, name, x, function(x))
        best = objectives.minimise(function, *RANGE)
        yield line(names.RISK_MINIMA, name, np.array([best]), function(np.array([best])))


def argmin_gaps(
    sample_sizes: Sequence[int], num_draws: int, rng: np.random.Generator
) -> Iterator[Curve]:
    """How far a sample's minimiser lies from the risk's, and the risk it costs, against n."""
    best = objectives.minimise(objectives.risk, *RANGE)
    grid = np.linspace(*RANGE, 2001)
    gaps, costs = [], []
    for n in sample_sizes:
        phases = rng.normal(0, SIGMA, (num_draws, n))
        found = grid[objectives.sampled_risk(grid, phases, SIGMA).argmin(1)]
        gaps.append(np.abs(found - best))
        costs.append(objectives.risk(found) - objectives.risk(np.array(best)))
    yield curve(names.ARGMIN_GAP, names.DISTANCE, sample_sizes, gaps)
    yield curve(names.ARGMIN_GAP, names.EXCESS, sample_sizes, costs)
