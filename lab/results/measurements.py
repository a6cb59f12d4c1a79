"""Measurements as the benchmark stages record them: every sample a CSV row, and why a row has
none.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from lab.results.stats import Summary, summarise

Row = dict[str, float | str]
SKIPPED = "skipped: "


@dataclass(frozen=True)
class Measurement:
    """Samples of one arm of a demo at one x (a size, a count, a call), in `unit`.

    `device_kind` is that of lab.machine.devices and `threads` those of one CPU device, 0 where it
    does not matter. `remark` is empty, or `skipped: <reason>` where there are no samples, or
    `wrong: <reason>` where they cannot be.
    """

    demo: str
    arm: str
    x: float
    values: tuple[float, ...]
    unit: str
    device_kind: str
    threads: int = 0
    remark: str = ""

    @property
    def summary(self) -> Summary:
        """Median and quartiles; a ValueError where the measurement was skipped."""
        return summarise(self.values)


def skip(demo: str, arm: str, reason: str, device_kind: str) -> Measurement:
    """Return the row of what this machine cannot answer."""
    return Measurement(demo, arm, 0, (), "", device_kind, remark=f"{SKIPPED}{reason}")


def rows_of(measurements: Sequence[Measurement]) -> list[Row]:
    """Return one row per sample, six digits each; one row with an empty value for what was
    skipped.
    """
    return [
        {
            "demo": m.demo,
            "arm": m.arm,
            "x": m.x,
            "sample": sample,
            "value": float(f"{value:.6g}") if value is not None else "",
            "unit": m.unit,
            "device_kind": m.device_kind,
            "threads": m.threads,
            "remark": m.remark,
        }
        for m in measurements
        for sample, value in enumerate(m.values or (None,))
    ]


def measurements_of(rows: Sequence[Mapping[str, float | str]]) -> list[Measurement]:
    """Return the measurements that rows hold, in their order; the inverse of `rows_of`."""
    found: dict[tuple[str, str, float], list[Mapping[str, float | str]]] = {}
    for row in rows:
        found.setdefault((str(row["demo"]), str(row["arm"]), float(row["x"])), []).append(row)
    return [
        Measurement(
            demo,
            arm,
            x,
            tuple(float(row["value"]) for row in same if row["value"] != ""),
            str(same[0]["unit"]),
            str(same[0]["device_kind"]),
            int(float(same[0]["threads"])),
            str(same[0]["remark"]),
        )
        for (demo, arm, x), same in found.items()
    ]


@dataclass(frozen=True)
class Results:
    """A stage's measurements, to be asked for by demo and arm."""

    measurements: Sequence[Measurement]

    def arms(self, demo: str) -> list[str]:
        """Return the measured arms of a demo, in their order."""
        return list(dict.fromkeys(m.arm for m in self.measurements if m.demo == demo and m.values))

    def series(self, demo: str, arm: str) -> list[Measurement]:
        """Return an arm's measurements by growing x; none if it was skipped or is unknown."""
        return sorted(
            (m for m in self.measurements if (m.demo, m.arm) == (demo, arm) and m.values),
            key=lambda m: m.x,
        )

    def one(self, demo: str, arm: str, x: float | None = None) -> Measurement | None:
        """Return an arm's measurement at `x`, or its only one; None if it was not measured."""
        return next((m for m in self.series(demo, arm) if x is None or m.x == x), None)

    def skipped(self) -> list[Measurement]:
        """Return what was skipped."""
        return [m for m in self.measurements if m.remark.startswith(SKIPPED)]
