"""A stage's results, written atomically: rows.csv (raw samples), metrics.json, conditions.json."""

import contextlib
import csv
import errno
import hashlib
import io
import json
import math
import os
import re
import secrets
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from lab.core.errors import DataError, LabError, MachineError, NotThereError, SpaceError

REPORTS = Path("reports")
HARDWARE_FILE = REPORTS / "hardware.json"
ROWS = "rows.csv"
METRICS = "metrics.json"  # the few numbers of a stage that a person compares
MEASURED_ON = "measured_on"  # the date, among the conditions
CONDITIONS = "conditions.json"  # a stage's other single numbers and words, and its machine
MERGE_MARK = re.compile("^(<<<<<<<|>>>>>>>) ", re.MULTILINE)
MERGED = "a merge left both sides in it"
FIX = "delete it and run `invoke repro`"

Row = Mapping[str, float | str]
Metrics = Mapping[str, float | str]


def sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def write_atomically(path: Path, content: bytes) -> None:
    """Write a file so that it is complete or absent, whenever the process ends.

    Raises:
        SpaceError: the disk is full, or the file is larger than the shell's limit.
        MachineError: the folder cannot be written to.
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
        with contextlib.suppress(OSError):
            part.unlink(missing_ok=True)
        raise not_written(error, path) from None


def not_written(error: OSError, path: Path) -> LabError:
    """Return the error for a file that the system lets no command write, or read."""
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return SpaceError(f"{path}: no space; free some and run again")
    if error.errno == errno.EFBIG:
        return SpaceError(f"{path}: over this shell's limit for a file; `ulimit -f unlimited`")
    return MachineError(
        f"{path}: cannot be read or written ({error.strerror}); fix the permissions, or work in a"
        " clone of your own"
    )


def write_json(path: Path, document: Mapping[str, Any]) -> None:
    """Write indented JSON with keys in the given order; NaN and infinities raise ValueError."""
    text = json.dumps(document, indent=2, ensure_ascii=False, allow_nan=False)
    write_atomically(path, (text + "\n").encode())


def _read(path: Path, fix: str) -> str:
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise NotThereError(f"{path}: not there yet; `invoke repro` makes it") from None
    except PermissionError as error:
        raise MachineError(
            f"{path}: cannot be read ({error.strerror}); fix the file's permissions"
        ) from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise DataError(f"{path}: damaged ({reason}); {fix}") from None
    if MERGE_MARK.search(text):
        raise DataError(
            f"{path}: {MERGED}; `git checkout --ours {REPORTS}` keeps HEAD's results, --theirs the"
            " other side's, which are yours in a rebase or after `git stash pop`"
        )
    return text


def read_json(path: Path, fix: str = FIX) -> dict[str, Any]:
    """Return the object in a JSON file; its numbers are finite, as `write_json` writes them.

    Args:
        path: the file.
        fix: what to do if the file is damaged.

    Raises:
        DataError: the file is missing or damaged.
        MachineError: the file cannot be read.
    """
    text = _read(path, fix)
    try:
        document = json.loads(text, parse_float=_value, parse_constant=_value)
    except (ValueError, RecursionError) as error:
        raise DataError(f"{path}: damaged ({error}); {fix}") from None
    if not isinstance(document, dict):
        raise DataError(f"{path}: damaged (expected an object); {fix}")
    return document


def _value(text: str) -> float | str:
    """Return a finite number, or the text itself if it is no number."""
    try:
        number = float(text)
    except ValueError:
        return text
    if not math.isfinite(number):
        raise ValueError(f"{text:.20} is no finite number")
    return number


def write_rows(folder: Path, rows: Sequence[Row], name: str = ROWS) -> None:
    """Write a stage's rows, or a further table next to them; all rows have the first one's keys.

    Raises:
        ValueError: there are no rows, a row has other keys, or a number is not finite.
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


def read_rows(path: Path, fix: str = FIX) -> list[dict[str, float | str]]:
    """Return the rows of a CSV file, numbers as floats; at least one, all as long as the header.

    Args:
        path: the file.
        fix: what to do if the file is damaged.

    Raises:
        DataError: the file is missing or damaged.
        MachineError: the file cannot be read.
    """
    table = csv.reader(io.StringIO(_read(path, fix), newline=""), strict=True)
    rows = []
    try:
        header = next(table, [])
        for row in filter(None, table):
            if len(row) != len(header):
                raise ValueError(f"{len(row)} cells for {len(header)} columns")
            rows.append(dict(zip(header, map(_value, row), strict=False)))
    except (csv.Error, ValueError) as error:
        raise DataError(f"{path}: damaged (line {table.line_num}: {error}); {fix}") from None
    if not rows:
        raise DataError(f"{path}: damaged (it has no rows); {fix}")
    return rows
