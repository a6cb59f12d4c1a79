"""When results were measured, as far as they record it."""

import contextlib
from collections.abc import Iterable
from pathlib import Path

from lab.core.errors import LabError
from lab.core.files import CONDITIONS, MEASURED_ON
from lab.results.documents import read_conditions


def first_and_last_day(folders: Iterable[Path]) -> list[str]:
    """Between which all results in the folders were measured; one day if it is the same."""
    days = set()
    for path in (path for folder in folders for path in folder.rglob(CONDITIONS)):
        with contextlib.suppress(LabError):  # its page says so
            days.add(str(read_conditions(path.parent).get(MEASURED_ON, "")))
    days -= {""}
    return sorted({min(days), max(days)}) if days else []
