"""How a stage, or any command of the lab, ends: 0, or one line on stderr and the exit code of its kind."""

import contextlib
import logging
import os
import sys
from collections.abc import Callable
from pathlib import Path

from lab.errors import LabError, SpaceError
from lab.records import write_json

ERROR_FILE = Path(
    ".lab/last_error.json"
)  # DVC reports each failure as 255; `invoke repro` reads the real code here


def run(main: Callable[[], None]) -> int:
    """Run `main` and return the exit code: 0, a LabError's own, 8 for want of memory, 130 for Ctrl-C.

    A LabError is printed as one line per mistake, without a traceback unless LAB_DEBUG is set.
    """
    logging.basicConfig(level=logging.INFO, format="%(message)s", stream=sys.stdout)
    try:
        main()
    except (LabError, MemoryError, KeyboardInterrupt) as error:
        if os.environ.get("LAB_DEBUG"):
            raise
        return _failed(*_explain(error))
    return 0


def _explain(error: BaseException) -> tuple[int, str]:
    """Return the exit code and the lines that say what happened and what to do."""
    if isinstance(error, LabError):
        return error.exit_code, str(error)
    if isinstance(error, MemoryError):
        return SpaceError.exit_code, f"out of memory ({error}); use a smaller batch or profile"
    return 130, "interrupted; the same command starts this stage again"


def _failed(exit_code: int, message: str) -> int:
    for line in message.splitlines():
        print(f"ERROR: {line}", file=sys.stderr)
    with contextlib.suppress(LabError):  # a read-only folder must not hide the first error
        write_json(ERROR_FILE, {"exit_code": exit_code, "message": message})
    return exit_code
