"""The cost model fitted to rows: a link for all-reduces, and computing time by images."""

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import median

import numpy as np
from numpy.typing import NDArray

from lab.parallel.cost_model import (
    ADDING,
    MODELLED,
    PROBES,
    THERE_AND_BACK,
    Link,
    Path,
    allreduce_path,
)
from lab.results.findings import Samples
from lab.results.measurements import Measurement, Results
from lab.results.reasons import NOT_MEASURED, UNUSABLE, Reason
from lab.results.stats import POSITIVE, fit_line, median_interval

Fitted = Sequence[tuple[Path, Sequence[float]]]  # paths, each with its seconds per fresh process


# --- computing


@dataclass(frozen=True)
class Compute:
    """A device's computing time in a step: fixed milliseconds plus some per image."""

    fixed_ms: float
    per_image_ms: float

    def ms(self, images: float) -> float:
        return self.fixed_ms + self.per_image_ms * images


def fit_compute(ms_by_images: Mapping[float, float]) -> Compute:
    """Fit a line to milliseconds by images per device.

    The slope must be positive and the intercept not negative. If noise tilts the line so far that
    one of them is not, fit a line through the origin.
    """
    images, ms = list(ms_by_images), list(ms_by_images.values())
    per_image_ms, fixed_ms = fit_line(images, ms)
    if per_image_ms > 0 and fixed_ms >= 0:
        return Compute(fixed_ms, per_image_ms)
    shares = [n / t for n, t in ms_by_images.items()]  # relative errors, as in fit_line
    return Compute(0.0, sum(shares) / sum(share**2 for share in shares))


# --- the link


@dataclass(frozen=True)
class Model:
    """The link fitted to the all-reduces of the fewest ranks.

    Attributes:
        few: the number of ranks it was fitted to.
        many: the most ranks with measured times; equals `few` if there is nothing to predict.
        shared: whether all ranks share the link, or each rank has its own.
        links: one link per fresh process, (processes, 3).
        error_percent: the median relative error on the fitted times.
        unseen: the relative error for each message of the most ranks, in percent.
    """

    few: int
    many: int
    shared: bool
    links: NDArray[np.float64]
    error_percent: float
    unseen: Samples

    @property
    def link(self) -> Link:
        """The median of each parameter over fresh processes."""
        return middle_of(self.links)

    def interval(self) -> tuple[Link, Link]:
        """Return the ends of the intervals of these medians."""
        ends = [median_interval(numbers, POSITIVE) for numbers in self.links.T.tolist()]
        low, high = zip(*ends, strict=True)
        return Link(*low), Link(*high)


def models_of(results: Results) -> tuple[Model, Model]:
    """Return both models, the better fit first: one link per rank, or one link for all ranks.

    Raises:
        ValueError: too few messages to fit a link to, or differing numbers of processes.
    """
    counts = [int(m.columns["ranks"]) for m in results.measurements if m.experiment == "message"]
    if not counts:
        raise ValueError("messages")
    few, many = min(counts), max(counts)
    better, other = sorted(
        (_model(results, few, many, shared) for shared in (False, True)),
        key=lambda model: model.error_percent,
    )
    return better, other


def _model(results: Results, few: int, many: int, shared: bool) -> Model:
    fitted = paths_of(results, few, shared)
    links = fit_links(fitted)
    link = middle_of(links)
    unseen = paths_of(results, many, shared) if many > few else []
    kinds = frozenset(m.device_kind for m in results.measurements)
    if many == few:
        errors = Samples(missing=Reason(NOT_MEASURED, f"more than {few} ranks"))
    elif not unseen:
        why = f"no message has a number for each of {many} ranks"
        errors = Samples(missing=Reason(UNUSABLE, why))
    else:
        errors = Samples(tuple(errors_percent(link, unseen)), kinds)
    return Model(few, many, shared, links, median(errors_percent(link, fitted)), errors)


def paths_of(results: Results, n: int, shared: bool) -> Fitted:
    """Return the paths and seconds of the messages of n ranks that the model covers.

    The library's all-reduce is left out, and so are all-reduces with less than one number per rank.
    """

    def path(m: Measurement) -> Path | None:
        if m.variant == THERE_AND_BACK:
            return Path(2, 2 * m.x, 0)
        if m.variant == ADDING:  # each rank adds half of the tensor to the other half
            return Path(0, 0, m.x / 2 * (n if shared else 1))
        return allreduce_path(m.variant, n, 1, m.x, shared) if m.x >= 4 * n else None

    timed = [m for name in (*MODELLED, *PROBES) for m in results.series("message", name, ranks=n)]
    return [(found, [t / 1e3 for t in m.values]) for m in timed if (found := path(m))]


def middle_of(links: NDArray[np.float64]) -> Link:
    """Return the median of each parameter over links (processes, 3)."""
    return Link(*np.median(links, axis=0).tolist())


def errors_percent(link: Link, fitted: Fitted) -> list[float]:
    """Return the error of the link's time for each path, in percent."""
    return [100 * abs(path.seconds(link) / median(seconds) - 1) for path, seconds in fitted]


def fit_links(fitted: Fitted) -> NDArray[np.float64]:
    """Fit a link to the times of each fresh process; return (processes, 3).

    Non-negative least squares on relative errors. Any all-reduce adds half the bytes that it sends,
    so all-reduces cannot separate the cost of adding from that of sending: pass paths with other
    proportions as well.

    Raises:
        ValueError: fewer than three paths, or differing numbers of processes.
    """
    if len(fitted) < 3 or len({len(seconds) for _, seconds in fitted}) != 1:
        raise ValueError("three or more paths with as many starts each")
    paths = np.array([path for path, _ in fitted], dtype=float)
    times = np.array([seconds for _, seconds in fitted], dtype=float)
    return np.array([_nearest(paths, of_start) for of_start in times.T])


def _nearest(paths: NDArray[np.float64], seconds: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the x (3,) >= 0 that minimizes |paths x / seconds - 1|; try all subsets of columns."""
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
