"""Measurements: the samples of one variant of an experiment, a CSV row each, or why there are none.

One format for all stages. What tells measurements apart is a column: the experiment, the variant,
x, and whatever columns a stage has of its own, such as a net or a number of devices.
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

AGAIN = ", again"  # behind the name of a variant that takes part twice, as a noise control
COLUMNS = ("experiment", "variant", "x", "sample", "value")  # of every file; then these:
ABOUT = ("unit", "device_kind", "threads", "remark")

Cell = str | float


@dataclass(frozen=True)
class Measurement:
    """Samples of one variant of an experiment at one x (a size, a count, a call), in `unit`.

    A sample that is NaN is that of a run that diverged. `device_kind` is that of
    lab.machine.devices; `threads` are those of one CPU device, 0 where they do not matter.
    `remark` is empty, or `skipped: <reason>` where there are no samples, or `disturbed: <what>`
    where something happened in a process that took one of them, or the error of a program that was
    to fail. `columns` are the stage's own.
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
        """Median and quartiles; a ValueError where the measurement was skipped."""
        return summarise(self.values)

    @property
    def key(self) -> tuple[Cell, ...]:
        """What tells it from the other measurements of its stage."""
        return (self.experiment, self.variant, self.x, *map(str, self.columns.items()))


def line(
    experiment: str, variant: str, x: ArrayLike, y: ArrayLike, **columns: Cell
) -> list[Measurement]:
    """One sample at each x."""
    ys = np.asarray(y, dtype=float)
    return samples_at(experiment, variant, x, list(ys[:, None]), **columns)


def by_seed(
    experiment: str, variant: str, y: ArrayLike, x: float = 0, **columns: Cell
) -> Measurement:
    """One sample of each seed, in the order of the seeds."""
    values = tuple(np.asarray(y, dtype=float).tolist())
    return Measurement(experiment, variant, x, values, columns=columns)


def samples_at(
    experiment: str,
    variant: str,
    x: ArrayLike,
    samples: Sequence[NDArray[np.float64]],
    **columns: Cell,
) -> list[Measurement]:
    """Several samples (of any number) at each x; NaN marks one that diverged."""
    return [
        by_seed(experiment, variant, each, float(a), **columns)
        for a, each in zip(np.asarray(x, dtype=float), samples, strict=True)
    ]


@dataclass(frozen=True, eq=False)
class Curve:
    """A variant's samples against x: their medians y, and the band of their middle half.

    All arrays are (k,). `diverged` is the share of a point's samples that are NaN, which y and the
    band leave out; where all are, y is NaN.
    """

    x: NDArray[np.float64]
    y: NDArray[np.float64]
    low: NDArray[np.float64]
    high: NDArray[np.float64]
    diverged: NDArray[np.float64]


def curve_of(series: Sequence[Measurement], scale: float = 1.0) -> Curve:
    """The curve of a variant's measurements, in the order of these, y times `scale`."""
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
    """What disturbed any of them, by their remarks."""
    remarks = (Reason.of(m.remark) for m in measurements)
    return [each for code, about in remarks if code == DISTURBED for each in split(about)]


def again(variant: str) -> str:
    """The name under which a variant takes part a second time, to be compared with itself."""
    return variant + AGAIN


def controls(measurements: Sequence[Measurement]) -> Iterator[tuple[Measurement, list[float]]]:
    """Each variant that took part twice, with the ratios of its samples to its second part's."""
    found = {m.key: m for m in measurements if m.values}
    for m in list(found.values()):
        _, variant, *rest = m.key
        if second := found.get((m.experiment, again(str(variant)), *rest)):
            yield m, [a / b for a, b in zip(m.values, second.values, strict=True)]


def skip(experiment: str, variant: str, reason: Reason, device_kind: str) -> Measurement:
    """What this machine cannot measure, and why."""
    remark = str(Reason(SKIPPED, str(reason)))
    return Measurement(experiment, variant, 0, (), "", device_kind, remark=remark)


def was_skipped(remark: object) -> bool:
    """Whether a row's remark says that it was."""
    return Reason.of(str(remark)).code == SKIPPED


def rows_of(measurements: Sequence[Measurement]) -> list[Row]:
    """One row per sample, with eight digits; an empty value for one that diverged or was skipped.

    A row has the columns of all stages, and those that any of the measurements has of its own.
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
    """The measurements that rows hold, in their order; the inverse of `rows_of`.

    A table with a row for each epoch of each seed is one experiment, whose variants are its columns
    of numbers, and whose samples are the seeds'.
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
    """The measurement of rows that differ in their samples alone."""
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
        measurements: what its rows hold.
        conditions: under which they were taken, by name: the devices, the data, the settings.
    """

    measurements: Sequence[Measurement]
    conditions: Mapping[str, Any] = field(default_factory=dict)

    def samples(
        self, experiment: str, variant: str, x: float | None = None, **columns: Cell
    ) -> Samples:
        """A variant's samples at `x`, or at each x; why there are none where it was skipped."""
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
        """Where a variant was measured, growing."""
        return [m.x for m in self.series(experiment, variant, **columns)]

    def variants(self, experiment: str, **columns: Cell) -> list[str]:
        """The measured variants of an experiment, in their order, without noise controls."""
        found = (m.variant for m in self._where(experiment, columns))
        return [name for name in dict.fromkeys(found) if not name.endswith(AGAIN)]

    def series(self, experiment: str, variant: str, **columns: Cell) -> list[Measurement]:
        """A variant's measurements by growing x; none if it was skipped or is unknown."""
        found = self._where(experiment, columns)
        return sorted((m for m in found if m.variant == variant), key=lambda m: m.x)

    def one(
        self, experiment: str, variant: str, x: float | None = None, **columns: Cell
    ) -> Measurement | None:
        """A variant's measurement at `x`, or at its smallest x; None if it was not measured."""
        found = self.series(experiment, variant, **columns)
        return next((m for m in found if x is None or m.x == x), None)

    def curves(self, experiment: str, **columns: Cell) -> dict[str, Curve]:
        """The curve of each variant of an experiment; none if there is no such experiment."""
        return {
            name: curve_of(self.series(experiment, name, **columns))
            for name in self.variants(experiment, **columns)
        }

    def skipped(self) -> list[Measurement]:
        """What was skipped."""
        return [m for m in self.measurements if was_skipped(m.remark)]

    def _where(self, experiment: str, columns: Mapping[str, Cell]) -> Iterator[Measurement]:
        """The measurements of an experiment with such columns that have samples."""
        for m in self._by_experiment.get(experiment, ()):
            if all(m.columns.get(name) == value for name, value in columns.items()):
                yield m

    @cached_property
    def _by_experiment(self) -> dict[str, list[Measurement]]:
        """The measurements that have samples: a section asks thousands of times."""
        found: dict[str, list[Measurement]] = {}
        for m in self.measurements:
            if m.values:
                found.setdefault(m.experiment, []).append(m)
        return found
