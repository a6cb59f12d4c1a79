"""A stage's results: rows.csv (raw samples) and metrics.json (few, derived), written whole."""

import csv
import errno
import io
import json
import math
import os
import secrets
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from lab.core.errors import LabError, SpaceError

REPORTS = Path("reports")
HARDWARE_FILE = REPORTS / "hardware.json"

Row = Mapping[str, float | str]
Metrics = Mapping[str, float | str]


def write_atomically(path: Path, content: bytes) -> None:
    """Write a file that is seen whole or not at all, whenever the process ends.

    Raises:
        SpaceError: the disk is full.
        LabError: the folder cannot be written to.
    """
    part = path.with_name(f"{path.name}.part-{os.getpid()}-{secrets.token_hex(4)}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with part.open("wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        part.replace(path)
    except OSError as error:
        part.unlink(missing_ok=True) if part.parent.is_dir() else None
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            raise SpaceError(
                f"{path}: no space for {len(content)} bytes; free some and run again"
            ) from None
        raise LabError(
            f"{path}: cannot be written ({error.strerror}); mend the folder's permissions"
        ) from None


def write_json(path: Path, document: Mapping[str, Any]) -> None:
    """Write indented JSON with keys in the order given; NaN and infinities are a ValueError."""
    text = json.dumps(document, indent=2, ensure_ascii=False, allow_nan=False)
    write_atomically(path, (text + "\n").encode())


def read_json(path: Path) -> dict[str, Any]:
    """The object in a JSON file.

    Raises:
        LabError: missing or damaged.
    """
    try:
        document = json.loads(path.read_bytes())
    except FileNotFoundError:
        raise LabError(f"{path}: not there yet; `invoke repro` makes it") from None
    except ValueError as error:
        raise LabError(f"{path}: damaged ({error}); delete it and run `invoke repro`") from None
    if not isinstance(document, dict):
        raise LabError(f"{path}: expected an object; delete it and run `invoke repro`")
    return document


def write_metrics(folder: Path, metrics: Metrics) -> None:
    """Write a stage's metrics.json.

    `dvc metrics diff` shows numbers and strings, splits keys at dots and rounds to five decimals:
    so keys have no dots, nothing is nested, and units keep numbers between 1 and 10⁴.

    Raises:
        ValueError: a key with a dot, or a value that DVC would not show.
    """
    for key, value in metrics.items():
        if "." in key or isinstance(value, bool) or not isinstance(value, int | float | str):
            raise ValueError(f"{key}: {value!r} is no metric")
    write_json(folder / "metrics.json", metrics)


def write_rows(folder: Path, rows: Sequence[Row], name: str = "rows.csv") -> None:
    """Write a stage's rows, or another table beside them; all rows have the first one's keys.

    Raises:
        ValueError: no rows, a row with other keys, or a number that is not finite.
    """
    if not rows:
        raise ValueError("expected at least one row")
    for row in rows:
        bad = [
            key
            for key, value in row.items()
            if isinstance(value, float) and not math.isfinite(value)
        ]
        if bad:
            raise ValueError(f"not finite: {bad} in {dict(row)}")
    text = io.StringIO()
    writer = csv.DictWriter(text, fieldnames=list(rows[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    write_atomically(folder / name, text.getvalue().encode())


def read_rows(path: Path) -> list[dict[str, float | str]]:
    """The rows of a CSV file, numbers as floats.

    Raises:
        LabError: missing.
    """

    def parse(text: str) -> float | str:
        try:
            return float(text)
        except ValueError:
            return text

    try:
        with path.open(encoding="utf-8", newline="") as file:
            return [
                {key: parse(value) for key, value in row.items()} for row in csv.DictReader(file)
            ]
    except FileNotFoundError:
        raise LabError(f"{path}: not there yet; `invoke repro` makes it") from None
