"""Curves: an experiment's named series of points with bands, one CSV row per point."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lab.core.files import Row


@dataclass(frozen=True, eq=False)
class Curve:
    """Points (x, y) of one series of an experiment, with the band of the samples' middle half.

    All arrays are (k,). `diverged` is the share of a point's samples that left the finite numbers,
    which y and the band leave out; `diverged_step` is the first step at which one did, 0 for none.
    """

    experiment: str
    series: str
    x: NDArray[np.float64]
    y: NDArray[np.float64]
    low: NDArray[np.float64]
    high: NDArray[np.float64]
    diverged: NDArray[np.float64]
    diverged_step: NDArray[np.int64]

    def scaled(self, x: float = 1.0, y: float = 1.0) -> "Curve":
        """The curve in other units."""
        return replace(self, x=x * self.x, y=y * self.y, low=y * self.low, high=y * self.high)


def key(name: str) -> str:
    """A name as part of a metric's key: lower case, words joined, no dots."""
    return re.sub(r"[ ,()+-]+", "_", re.sub(r"[.':]", "", name.lower())).strip("_")


def line(experiment: str, series: str, x: ArrayLike, y: ArrayLike) -> Curve:
    """A curve of single values, without a band."""
    xs, ys = np.asarray(x, dtype=float), np.asarray(y, dtype=float)
    return Curve(
        experiment, series, xs, ys, ys, ys, np.zeros(len(xs)), np.zeros(len(xs), dtype=np.int64)
    )


def curve(
    experiment: str,
    series: str,
    x: ArrayLike,
    samples: Sequence[NDArray[np.float64]],
    diverged_steps: Sequence[NDArray[np.int64]] | None = None,
) -> Curve:
    """The median and quartiles of each point's samples; NaN marks a sample that diverged.

    A point whose samples have all diverged has y = NaN, and an empty cell in its row.

    Args:
        experiment: which experiment.
        series: which line of it.
        x: (k,).
        samples: k arrays, of any lengths.
        diverged_steps: for each sample the step at which it diverged, 0 if it did not.
    """
    bands = np.array(
        [
            np.percentile(s[np.isfinite(s)], [25, 50, 75]) if np.isfinite(s).any() else [np.nan] * 3
            for s in samples
        ]
    )
    lost = np.array([1 - np.isfinite(s).mean() for s in samples])
    first = [
        min(each[each > 0], default=0)
        for each in diverged_steps or [np.zeros(0, np.int64)] * len(lost)
    ]
    steps = np.array(first, dtype=np.int64)
    return Curve(
        experiment,
        series,
        np.asarray(x, dtype=float),
        bands[:, 1],
        bands[:, 0],
        bands[:, 2],
        lost,
        steps,
    )


def curves_of(rows: Sequence[Row]) -> dict[str, dict[str, Curve]]:
    """The curves that rows hold, by experiment and series; the inverse of `rows_of`."""
    points: dict[tuple[str, str], list[list[float]]] = {}
    columns = ("x", "y", "low", "high", "diverged", "diverged_step")
    for row in rows:
        values = [float(row[name]) if row[name] != "" else np.nan for name in columns]
        points.setdefault((str(row["experiment"]), str(row["variant"])), []).append(values)
    experiments: dict[str, dict[str, Curve]] = {}
    for (experiment, series), columns_of in points.items():
        x, y, low, high, diverged, step = np.array(columns_of).T
        experiments.setdefault(experiment, {})[series] = Curve(
            experiment, series, x, y, low, high, diverged, step.astype(np.int64)
        )
    return experiments


def rows_of(curves: Sequence[Curve]) -> list[Row]:
    """One row per point; where all samples diverged, the value is an empty cell."""

    def number(value: float) -> float | str:
        return float(f"{value:.10g}") if np.isfinite(value) else ""

    return [
        {
            "experiment": c.experiment,
            "variant": c.series,
            "x": number(c.x[i]),
            "y": number(c.y[i]),
            "low": number(c.low[i]),
            "high": number(c.high[i]),
            "diverged": number(c.diverged[i]),
            "diverged_step": int(c.diverged_step[i]),
        }
        for c in curves
        for i in range(len(c.x))
    ]
