"""Measurements: one variant's samples in an experiment, a CSV row each, or why there are none.

All stages share one format. The columns that identify a measurement are the experiment, the
variant, x, and any of the stage's own, such as a net or a number of devices.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lab.core.files import Row
from lab.results.findings import Samples
from lab.results.reasons import DISTURBED, NOT_MEASURED, SKIPPED, Reason, split
from lab.results.stats import Summary, summarise

AGAIN = ", again"  # suffix of a variant's name when it takes part again, as a noise control
COLUMNS = ("experiment", "variant", "x", "sample", "value")  # in every file, followed by:
ABOUT = ("unit", "device_kind", "threads", "remark")

Cell = str | float


@dataclass(frozen=True)
class Measurement:
    """Samples of one variant of an experiment at one x (a size, a count, a call), in `unit`.

    A NaN sample belongs to a run that diverged. `device_kind` is from lab.machine.devices.
    `threads` is the number of one CPU device's threads, or 0 if they do not matter. `remark` is
    empty, `skipped: <reason>` if there are no samples, `disturbed: <what>` if a process that took
    a sample was disturbed, or the error of a program that was meant to fail. `columns` are the
    stage's own.
    """

    experiment: str
    variant: str
    x: float
    values: tuple[float, ...]
    unit: str = ""
    device_kind: str = "cpu"
    threads: int = 0
    remark: str = ""
    columns: Mapping[str, Cell] = field(default_factory=dict)

    @property
    def summary(self) -> Summary:
        """Median and quartiles; ValueError if the measurement was skipped."""
        return summarise(self.values)

    @property
    def key(self) -> tuple[Cell, ...]:
        """The cells that identify the measurement within its stage."""
        return (self.experiment, self.variant, self.x, *map(str, self.columns.items()))


def line(
    experiment: str, variant: str, x: ArrayLike, y: ArrayLike, **columns: Cell
) -> list[Measurement]:
    """Return one sample at each x."""
    ys = np.asarray(y, dtype=float)
    return samples_at(experiment, variant, x, list(ys[:, None]), **columns)


def by_seed(
    experiment: str, variant: str, y: ArrayLike, x: float = 0, **columns: Cell
) -> Measurement:
    """Return one sample per seed, in the order of the seeds."""
    values = tuple(np.asarray(y, dtype=float).tolist())
    return Measurement(experiment, variant, x, values, columns=columns)


def samples_at(
    experiment: str,
    variant: str,
    x: ArrayLike,
    samples: Sequence[NDArray[np.float64]],
    **columns: Cell,
) -> list[Measurement]:
    """Return any number of samples at each x; NaN marks a run that diverged."""
    return [
        by_seed(experiment, variant, each, float(a), **columns)
        for a, each in zip(np.asarray(x, dtype=float), samples, strict=True)
    ]


@dataclass(frozen=True, eq=False)
class Curve:
    """A variant's samples against x: their medians y, and quartiles `low` and `high`.

    All arrays have shape (k,). `diverged` is the share of NaN samples at a point. The medians and
    quartiles exclude these samples, and are NaN if no others are left.
    """

    x: NDArray[np.float64]
    y: NDArray[np.float64]
    low: NDArray[np.float64]
    high: NDArray[np.float64]
    diverged: NDArray[np.float64]


def curve_of(series: Sequence[Measurement], scale: float = 1.0) -> Curve:
    """Return the curve of a variant's measurements, in their order, with y times `scale`."""
    bands, diverged = [], []
    for m in series:
        values = np.asarray(m.values)
        finite = values[np.isfinite(values)]
        if len(finite) > 1:
            bands.append(np.percentile(finite, [25, 50, 75]))
        else:
            bands.append(np.full(3, finite[0] if len(finite) else np.nan))
        diverged.append(1 - len(finite) / len(values))
    low, y, high = scale * np.array(bands).T
    return Curve(np.array([m.x for m in series]), y, low, high, np.array(diverged))


def disturbances(measurements: Iterable[Measurement]) -> list[Reason]:
    """Return the reasons in the remarks of disturbed measurements."""
    remarks = (Reason.of(m.remark) for m in measurements)
    return [each for code, about in remarks if code == DISTURBED for each in split(about)]


def again(variant: str) -> str:
    """Return the name under which a variant takes part again, to be compared with itself."""
    return variant + AGAIN


def controls(measurements: Sequence[Measurement]) -> Iterator[tuple[Measurement, list[float]]]:
    """Yield each variant that took part twice, with the ratios of its first to second samples."""
    found = {m.key: m for m in measurements if m.values}
    for m in list(found.values()):
        _, variant, *rest = m.key
        if second := found.get((m.experiment, again(str(variant)), *rest)):
            yield m, [a / b for a, b in zip(m.values, second.values, strict=True)]


def skip(experiment: str, variant: str, reason: Reason, device_kind: str) -> Measurement:
    """Return a measurement without samples, which this machine cannot take for a `reason`."""
    remark = str(Reason(SKIPPED, str(reason)))
    return Measurement(experiment, variant, 0, (), "", device_kind, remark=remark)


def was_skipped(remark: object) -> bool:
    """Return whether a row's remark says that its measurement was skipped."""
    return Reason.of(str(remark)).code == SKIPPED


def rows_of(measurements: Sequence[Measurement]) -> list[Row]:
    """Return one row per sample, with eight digits; the value is empty if diverged or skipped.

    A row has the common columns, and the own columns of any of the measurements.
    """
    own = list(dict.fromkeys(name for m in measurements for name in m.columns))
    return [
        {
            "experiment": m.experiment,
            "variant": m.variant,
            **{name: m.columns.get(name, "") for name in own},
            "x": m.x if isinstance(m.x, int) else float(f"{m.x:.10g}"),
            "sample": sample,
            "value": float(f"{value:.8g}") if np.isfinite(value) else "",
            "unit": m.unit,
            "device_kind": m.device_kind,
            "threads": m.threads,
            "remark": m.remark,
        }
        for m in measurements
        for sample, value in enumerate(m.values or (np.nan,))
    ]


def measurements_of(rows: Sequence[Row]) -> list[Measurement]:
    """Return the measurements in rows, in their order; the inverse of `rows_of`.

    A table with a row per epoch and seed is one experiment: its numeric columns are the variants,
    and its seeds are the samples.
    """
    if "epoch" in rows[0]:
        epochs: dict[tuple[str, float], list[float]] = {}
        for row in rows:
            for name, cell in row.items():
                if name not in ("epoch", "seed") and not isinstance(cell, str):
                    epochs.setdefault((name, float(row["epoch"])), []).append(float(cell))
        return [Measurement("epochs", *key, tuple(values)) for key, values in epochs.items()]
    own = [name for name in rows[0] if name not in (*COLUMNS, *ABOUT)]
    found: dict[tuple[Cell, ...], list[Row]] = {}
    for row in rows:
        key = (row["experiment"], row["variant"], row["x"], *(row[name] for name in own))
        found.setdefault(key, []).append(row)
    return [_measurement(same, own) for same in found.values()]


def _measurement(rows: Sequence[Row], own: Sequence[str]) -> Measurement:
    """Return the measurement in rows that only differ in their samples."""
    first = rows[0]
    skipped = was_skipped(first["remark"])
    return Measurement(
        str(first["experiment"]),
        str(first["variant"]),
        float(first["x"]),
        () if skipped else tuple(_sample(row["value"]) for row in rows),
        str(first["unit"]),
        str(first["device_kind"]),
        int(float(first["threads"])),
        str(first["remark"]),
        {name: first[name] for name in own if first[name] != ""},
    )


def _sample(cell: Cell) -> float:
    return float(cell) if cell != "" else float("nan")


@dataclass(frozen=True)
class Results:
    """A stage's measurements, read by experiment, variant and the stage's own columns.

    Attributes:
        measurements: the contents of its rows.
        conditions: their devices, data and settings, by name.
    """

    measurements: Sequence[Measurement]
    conditions: Mapping[str, Any] = field(default_factory=dict)

    def samples(
        self, experiment: str, variant: str, x: float | None = None, **columns: Cell
    ) -> Samples:
        """Return a variant's samples at `x`, or at every x; the reason if there are none."""
        series = self.series(experiment, variant, **columns)
        found = [m for m in series if x is None or m.x == x]
        if found:
            values = tuple(value for m in found for value in m.values)
            return Samples(values, frozenset(m.device_kind for m in found))
        for m in self.skipped():
            if (m.experiment, m.variant) == (experiment, variant):
                return Samples((), frozenset([m.device_kind]), Reason.of(m.remark))
        wanted = ", ".join(map(str, [experiment, variant, *columns.values()]))
        at = "" if x is None else f", x {x:g}"
        return Samples(missing=Reason(NOT_MEASURED, f"{wanted}{at}"))

    def xs(self, experiment: str, variant: str, **columns: Cell) -> list[float]:
        """Return each x at which a variant was measured, in ascending order."""
        return [m.x for m in self.series(experiment, variant, **columns)]

    def variants(self, experiment: str, **columns: Cell) -> list[str]:
        """Return the measured variants of an experiment, in their order, without noise controls."""
        found = (m.variant for m in self._where(experiment, columns))
        return [name for name in dict.fromkeys(found) if not name.endswith(AGAIN)]

    def series(self, experiment: str, variant: str, **columns: Cell) -> list[Measurement]:
        """Return a variant's measurements by ascending x; none if it was skipped or is unknown."""
        found = self._where(experiment, columns)
        return sorted((m for m in found if m.variant == variant), key=lambda m: m.x)

    def one(
        self, experiment: str, variant: str, x: float | None = None, **columns: Cell
    ) -> Measurement | None:
        """Return a variant's measurement at `x`, or at its smallest x; None if not measured."""
        found = self.series(experiment, variant, **columns)
        return next((m for m in found if x is None or m.x == x), None)

    def curves(self, experiment: str, **columns: Cell) -> dict[str, Curve]:
        """Return the curve of each variant of an experiment; empty if it is unknown."""
        return {
            name: curve_of(self.series(experiment, name, **columns))
            for name in self.variants(experiment, **columns)
        }

    def skipped(self) -> list[Measurement]:
        return [m for m in self.measurements if was_skipped(m.remark)]

    def _where(self, experiment: str, columns: Mapping[str, Cell]) -> Iterator[Measurement]:
        """Yield the experiment's measurements that have samples and these columns."""
        for m in self._by_experiment.get(experiment, ()):
            if all(m.columns.get(name) == value for name, value in columns.items()):
                yield m

    @cached_property
    def _by_experiment(self) -> dict[str, list[Measurement]]:
        """Measurements that have samples; cached, since a section reads them thousands of times."""
        found: dict[str, list[Measurement]] = {}
        for m in self.measurements:
            if m.values:
                found.setdefault(m.experiment, []).append(m)
        return found
