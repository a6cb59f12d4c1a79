"""What the cost model makes of rows: a link that fits all-reduces, and computing by images."""

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

Fitted = Sequence[tuple[Path, Sequence[float]]]  # paths, each with its seconds in every start


# --- computing


@dataclass(frozen=True)
class Compute:
    """Milliseconds that a device computes in a step: a fixed time, and some for each image."""

    fixed_ms: float
    per_image_ms: float

    def ms(self, images: float) -> float:
        return self.fixed_ms + self.per_image_ms * images


def fit_compute(ms_by_images: Mapping[float, float]) -> Compute:
    """The line through milliseconds by images per device.

    Computing takes some time for each image, and at the start it takes no less than none: where
    noise tilts the line so far that it says otherwise, it is the one through the origin.
    """
    images, ms = list(ms_by_images), list(ms_by_images.values())
    per_image_ms, fixed_ms = fit_line(images, ms)
    if per_image_ms > 0 and fixed_ms >= 0:
        return Compute(fixed_ms, per_image_ms)
    shares = [n / t for n, t in ms_by_images.items()]  # errors are relative, as those of fit_line
    return Compute(0.0, sum(shares) / sum(share**2 for share in shares))


# --- the link


@dataclass(frozen=True)
class Model:
    """The link that fits the fewest ranks' all-reduces, if each has its own or all share it.

    Attributes:
        few: the ranks that it was fitted to.
        many: the most ranks that there are times of; as many as `few` where it predicts none.
        shared: whether all ranks share the link.
        links: the links of the starts, (starts, 3).
        error_percent: how far the link is off in the median of the times that it was fitted to.
        unseen: how far it is off for each message of the most ranks, in percent.
    """

    few: int
    many: int
    shared: bool
    links: NDArray[np.float64]
    error_percent: float
    unseen: Samples

    @property
    def link(self) -> Link:
        """The median over the starts of each number."""
        return middle_of(self.links)

    def interval(self) -> tuple[Link, Link]:
        """The ends of the intervals of these medians."""
        ends = [median_interval(numbers, POSITIVE) for numbers in self.links.T.tolist()]
        low, high = zip(*ends, strict=True)
        return Link(*low), Link(*high)


def models_of(results: Results) -> tuple[Model, Model]:
    """The model that fits the times better, and the other one: of a link for each rank, or for all.

    Raises:
        ValueError: too few messages to fit a link to, or differing numbers of starts.
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
    """The paths and seconds of those times of n ranks that the model is about.

    It leaves out the library's all-reduce, all-reduces that give some rank no number to sum, and
    all but the largest addition: short ones are mostly the cost of the call.
    """

    def path(m: Measurement) -> Path | None:
        if m.variant == THERE_AND_BACK:
            return Path(2, 2 * m.x, 0)
        if m.variant == ADDING:  # half of the tensor to the other, in each rank
            return Path(0, 0, m.x / 2 * (n if shared else 1))
        return allreduce_path(m.variant, n, 1, m.x, shared) if m.x >= 4 * n else None

    timed = [m for name in (*MODELLED, *PROBES) for m in results.series("message", name, ranks=n)]
    return [(found, [t / 1e3 for t in m.values]) for m in timed if (found := path(m))]


def middle_of(links: NDArray[np.float64]) -> Link:
    """The median of each number over links (starts, 3)."""
    return Link(*np.median(links, axis=0).tolist())


def errors_percent(link: Link, fitted: Fitted) -> list[float]:
    """How far the link's time is off for each path, in percent."""
    return [100 * abs(path.seconds(link) / median(seconds) - 1) for path, seconds in fitted]


def fit_links(fitted: Fitted) -> NDArray[np.float64]:
    """The links that fit each start's times best, (starts, 3).

    Nearest in relative errors: least squares with no number below zero. An all-reduce adds up half
    the bytes that it sends, whatever the algorithm, so alone it cannot separate the cost of adding
    from that of sending: give paths of other proportions, too.

    Raises:
        ValueError: fewer than three paths, or differing numbers of starts.
    """
    if len(fitted) < 3 or len({len(seconds) for _, seconds in fitted}) != 1:
        raise ValueError("three or more paths with as many starts each")
    paths = np.array([path for path, _ in fitted], dtype=float)
    times = np.array([seconds for _, seconds in fitted], dtype=float)
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
