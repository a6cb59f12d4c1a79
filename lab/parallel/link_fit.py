"""The link of lab.parallel.cost_model that fits measured times best, with intervals; no torch."""

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lab.parallel.cost_model import ADDING, THERE_AND_BACK, Link, Path, allreduce_path
from lab.results.measurements import Measurement
from lab.results.stats import POSITIVE, median_interval, summarise

Samples = Sequence[tuple[Path, Sequence[float]]]  # paths, each with its seconds in every start


@dataclass(frozen=True)
class FittedLink:
    """A link, whether all ranks share it, and the relative error of each fitted time."""

    link: Link
    shared: bool
    errors: Sequence[float]


def fit_both(times: Sequence[Measurement], n: int) -> tuple[FittedLink, FittedLink]:
    """Fits to the times of n ranks, of a link that all share and of one for each; better first.

    Args:
        times: all-reduces of one tensor, and probes, in milliseconds; their x is bytes.
        n: the number of ranks.
    """
    fits = []
    for shared in (False, True):
        samples = samples_of(times, n, shared)
        link = fit_link(samples)
        fits.append(FittedLink(link, shared, errors(link, samples)))
    better, other = sorted(fits, key=lambda fit: typical_errors(fit.errors)[0])
    return better, other


def samples_of(times: Sequence[Measurement], n: int, shared: bool) -> Samples:
    """The paths and seconds of those times that the model is about.

    It leaves out all-reduces that give some rank no number to sum, and all but the largest
    addition: short ones are mostly the cost of the call.
    """
    largest = max((m.x for m in times if m.variant == ADDING), default=0)

    def path(m: Measurement) -> Path | None:
        if m.variant == THERE_AND_BACK:
            return Path(2, 2 * m.x, 0)
        if m.variant == ADDING:  # half of the tensor to the other, in each rank
            return Path(0, 0, m.x / 2 * (n if shared else 1)) if m.x == largest else None
        return allreduce_path(m.variant, n, 1, m.x, shared) if m.x >= 4 * n else None

    return [(found, [t / 1e3 for t in m.values]) for m in times if (found := path(m))]


def fit_link(samples: Samples) -> Link:
    """The median over the starts of each number of the links that fit a start's times best.

    Nearest in relative errors: least squares with no number below zero. An all-reduce adds up half
    the bytes that it sends, whatever the algorithm, so alone it cannot separate the cost of adding
    from that of sending: give paths of other proportions, too.

    Raises:
        ValueError: fewer than three paths, or differing numbers of starts.
    """
    return Link(*np.median(_of_starts(samples), axis=0).tolist())


def link_interval(samples: Samples) -> tuple[Link, Link]:
    """The ends of the intervals of `fit_link`'s medians, by the sign test over the starts."""
    ends = [median_interval(numbers, POSITIVE) for numbers in _of_starts(samples).T.tolist()]
    low, high = zip(*ends, strict=True)
    return Link(*low), Link(*high)


def errors(link: Link, samples: Samples) -> list[float]:
    """The relative error of the link's time for each path; below zero, it is too short."""
    return [path.seconds(link) / summarise(seconds).median - 1 for path, seconds in samples]


def typical_errors(errors: Sequence[float]) -> tuple[float, float]:
    """The median and the largest of relative errors' sizes, in percent."""
    sizes = [100 * abs(error) for error in errors]
    return summarise(sizes).median, max(sizes)


def _of_starts(samples: Samples) -> NDArray[np.float64]:
    """The three numbers of the link that fits each start best, (starts, 3)."""
    if len(samples) < 3 or len({len(seconds) for _, seconds in samples}) != 1:
        raise ValueError("expected three or more paths with as many starts each")
    paths = np.array([path for path, _ in samples], dtype=float)
    times = np.array([seconds for _, seconds in samples], dtype=float)
    return np.array([_nearest(paths, of_start) for of_start in times.T])


def _nearest(paths: NDArray[np.float64], seconds: NDArray[np.float64]) -> NDArray[np.float64]:
    """The x (3,) >= 0 with the least |paths x / seconds - 1|, the best over subsets of columns."""
    rows = paths / seconds[:, None]
    scale: NDArray[np.float64] = np.maximum(
        np.linalg.norm(rows, axis=0), np.finfo(float).tiny
    )  # messages and bytes differ by 10^8
    best, least = np.zeros(3), float(len(rows))
    for size in (1, 2, 3):
        for columns in map(list, itertools.combinations(range(3), size)):
            x = np.zeros(3)
            x[columns] = np.linalg.lstsq((rows / scale)[:, columns], np.ones(len(rows)))[0]
            misfit = float(np.sum((rows / scale @ x - 1) ** 2))
            if x.min() >= 0 and misfit < least:
                best, least = x / scale, misfit
    return best
