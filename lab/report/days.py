"""The days on which results were measured, as far as they record them."""

import contextlib
from collections.abc import Iterable
from pathlib import Path

from lab.core.errors import LabError
from lab.core.files import CONDITIONS, MEASURED_ON
from lab.results.documents import read_conditions


def first_and_last_day(folders: Iterable[Path]) -> list[str]:
    """Return the first and the last day of the folders' results; once if both are the same."""
    days = set()
    for path in (path for folder in folders for path in folder.rglob(CONDITIONS)):
        with contextlib.suppress(LabError):  # its page reports it
            days.add(str(read_conditions(path.parent).get(MEASURED_ON, "")))
    days -= {""}
    return sorted({min(days), max(days)}) if days else []
