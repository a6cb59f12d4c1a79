"""Measurements: the samples of a variant, one CSV row each, or why there are none."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from lab.core.files import Row
from lab.results.disturbances import Disturbance, from_words
from lab.results.stats import Summary, paired_ratios, summarise

SKIPPED, DISTURBED = "skipped: ", "disturbed: "  # how remarks begin
AGAIN = ", again"  # behind the name of a variant that takes part twice, as a noise control


@dataclass(frozen=True)
class Measurement:
    """Samples of one variant of an experiment at one x (a size, a count, a call), in `unit`.

    `device_kind` is that of lab.machine.devices; `threads` are those of one CPU device, 0 where
    they do not matter. `remark` is empty, or `skipped: <reason>` where there are no samples, or
    `wrong: <reason>` where the samples cannot be what they are called, or `disturbed: <what>` where
    something happened in a start that took one of them.
    """

    experiment: str
    variant: str
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


def disturbances(measurements: Iterable[Measurement]) -> list[Disturbance]:
    """What disturbed any of them, by their remarks."""
    remarks = (m.remark for m in measurements if m.remark.startswith(DISTURBED))
    return [each for remark in remarks for each in from_words(remark.removeprefix(DISTURBED))]


def again(variant: str) -> str:
    """The name under which a variant takes part a second time, to be compared with itself."""
    return variant + AGAIN


def controls(measurements: Sequence[Measurement]) -> Iterator[tuple[Measurement, list[float]]]:
    """Each variant that took part twice, with the ratios of its samples to those of its second part."""
    found = {(m.experiment, m.variant, m.x): m for m in measurements if m.values}
    for (experiment, variant, x), m in found.items():
        if second := found.get((experiment, again(variant), x)):
            yield m, paired_ratios(m.values, second.values)


def skip(experiment: str, variant: str, reason: str, device_kind: str) -> Measurement:
    """What this machine cannot measure, and why."""
    return Measurement(experiment, variant, 0, (), "", device_kind, remark=f"{SKIPPED}{reason}")


def rows_of(measurements: Sequence[Measurement]) -> list[Row]:
    """One row per sample, with six digits; one row with an empty value for what was skipped."""
    return [
        {
            "demo": m.experiment,
            "arm": m.variant,
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


def measurements_of(rows: Sequence[Row]) -> list[Measurement]:
    """The measurements that rows hold, in their order; the inverse of `rows_of`."""
    found: dict[tuple[str, str, float], list[Row]] = {}
    for row in rows:
        found.setdefault((str(row["demo"]), str(row["arm"]), float(row["x"])), []).append(row)
    return [
        Measurement(
            experiment,
            variant,
            x,
            tuple(float(row["value"]) for row in same if row["value"] != ""),
            str(same[0]["unit"]),
            str(same[0]["device_kind"]),
            int(float(same[0]["threads"])),
            str(same[0]["remark"]),
        )
        for (experiment, variant, x), same in found.items()
    ]


@dataclass(frozen=True)
class Results:
    """A stage's measurements, to be asked for by experiment and variant."""

    measurements: Sequence[Measurement]

    def variants(self, experiment: str) -> list[str]:
        """The measured variants of an experiment, in their order, without noise controls."""
        found = (m.variant for m in self.measurements if m.experiment == experiment and m.values)
        return [variant for variant in dict.fromkeys(found) if not variant.endswith(AGAIN)]

    def series(self, experiment: str, variant: str) -> list[Measurement]:
        """A variant's measurements by growing x; none if it was skipped or is unknown."""
        return sorted(
            (
                m
                for m in self.measurements
                if (m.experiment, m.variant) == (experiment, variant) and m.values
            ),
            key=lambda m: m.x,
        )

    def one(self, experiment: str, variant: str, x: float | None = None) -> Measurement | None:
        """A variant's measurement at `x`, or at its smallest x; None if it was not measured."""
        return next((m for m in self.series(experiment, variant) if x is None or m.x == x), None)

    def skipped(self) -> list[Measurement]:
        """What was skipped."""
        return [m for m in self.measurements if m.remark.startswith(SKIPPED)]
