"""What rules read: a metric, or a column of rows, of what the stages left in reports/."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import Any

from lab.results.findings import Finding, missing
from lab.results.measurements import SKIPPED

CPU = "cpu"  # what stages that name no device_kind compute on, whatever devices there are
GPU_KINDS = ("cuda", "cuda-shared")
DEVICE_KINDS = (CPU, "cpu-virtual", *GPU_KINDS)


class NotTestableError(Exception):
    """What was measured does not decide a claim; the message says why, and what would help."""


@dataclass(frozen=True)
class Metric:
    """A metric in `folder` under reports, a stage's or `train/<run>`, compared or not."""

    folder: str
    name: str


@dataclass(frozen=True)
class Column:
    """The numbers in a column of a rows.csv, of the rows whose cells match `where`.

    In a cell's pattern `*` stands for any text; a number is written as 64 or 64.0.
    """

    folder: str
    name: str
    where: Mapping[str, str] = field(default_factory=dict)

    def matches(self, row: Mapping[str, Any]) -> bool:
        """Whether a row belongs to it."""
        for key, pattern in self.where.items():
            cell = row.get(key)
            texts = [str(cell), f"{cell:g}"] if isinstance(cell, float) else [str(cell)]
            if pattern not in texts and not ("*" in pattern and fnmatchcase(texts[0], pattern)):
                return False
        return True

    def whole(self) -> "Column":
        """The same of all of its variant's rows."""
        where = {key: self.where[key] for key in ("experiment", "variant") if key in self.where}
        return Column(self.folder, self.name, where)


Read = Metric | Column


@dataclass(frozen=True)
class Evidence:
    """What the stages left: their metrics and the rows of each rows.csv, by folder; findings."""

    metrics: Mapping[str, Mapping[str, Any]]
    rows: Mapping[str, Sequence[Mapping[str, Any]]]
    findings: Mapping[str, Mapping[str, Finding]] = field(default_factory=dict)

    def finding(self, stage: str, name: str) -> Finding:
        """A finding of a stage; a missing one where there is none."""
        nothing = missing(f"no finding {name} of {stage}")
        return self.findings.get(stage, {}).get(name, nothing)

    def value(self, metric: Metric) -> Any:
        """A metric as it is.

        Raises:
            NotTestableError: it is missing.
        """
        found = self.metrics.get(metric.folder, {}).get(metric.name)
        if found is None:
            raise NotTestableError(
                f"no {metric.name} in reports/{metric.folder}; {_remedy(metric)}"
            )
        return found

    def read(self, read: Read) -> float | tuple[float, ...]:
        """A metric's finite number, or a column's, in the order of the rows.

        Raises:
            NotTestableError: something is missing, was skipped, or is no finite number.
        """
        if isinstance(read, Metric):
            found = self.value(read)
            if not _is_number(found):
                raise NotTestableError(
                    f"{read.name} in reports/{read.folder} is {found!r}, no finite number;"
                    f" {_remedy(read)}"
                )
            return float(found)
        rows = self._rows_of(read)
        # a variant that was skipped as a whole has no x and no columns
        for row in rows or self._rows_of(read.whole()):
            remark = str(row.get("remark", ""))
            if remark.startswith(SKIPPED):
                raise NotTestableError(
                    f"stage {stage_of(read)} skipped it: {remark.removeprefix(SKIPPED)}"
                )
        values = [row.get(read.name) for row in rows]
        if not values or not all(_is_number(value) for value in values):
            wanted = ", ".join(f"{key} {pattern}" for key, pattern in read.where.items())
            raise NotTestableError(
                f"no numbers in column {read.name} ({wanted or 'all rows'}) of"
                f" reports/{read.folder}/rows.csv; {_remedy(read)}"
            )
        return tuple(float(value) for value in values if value is not None)

    def device_kinds(self, read: Read) -> set[str]:
        """The kinds of devices in the rows of what is read; none of a metric."""
        if isinstance(read, Metric):
            return set()
        return {str(row["device_kind"]) for row in self._rows_of(read) if "device_kind" in row}

    def _rows_of(self, column: Column) -> list[Mapping[str, Any]]:
        return [row for row in self.rows.get(column.folder, ()) if column.matches(row)]


def _is_number(value: object) -> bool:
    try:
        return (
            isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
        )
    except OverflowError:  # an integer that no float can hold
        return False


def stage_of(read: Read) -> str:
    """The stage that measures what is read."""
    return read.folder.split("/")[0]


def _remedy(read: Read) -> str:
    return f"`dvc repro {read.folder.replace('/', '@')}` measures it"
