"""How every command of the lab ends: with 0, or with an error on stderr and its exit code."""

import contextlib
import json
import logging
import os
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path
from types import FrameType, TracebackType

from lab.core.errors import LabError, SpaceError
from lab.core.files import write_json

# DVC turns every exit code into 255: `invoke repro` finds the real one here
ERROR_FILE = Path(".lab/last_error.json")


def run(main: Callable[[], None]) -> int:
    """Run `main`; the exit code is 0, a LabError's own, 8 when out of memory, or 130 for Ctrl-C.

    A LabError is printed as one line per mistake; with LAB_DEBUG set it is raised, with its
    traceback. In one of several processes of a run, the launcher prints it instead.
    """
    logging.basicConfig(level=logging.INFO, format="%(message)s", stream=sys.stdout)
    try:
        main()
    except (LabError, MemoryError, KeyboardInterrupt) as error:
        if os.environ.get("LAB_DEBUG"):
            raise
        return _failed(*_explain(error), kind=type(error).__name__)
    return 0


def _explain(error: BaseException) -> tuple[int, str]:
    """The exit code, and the lines that say what happened and what to do."""
    if isinstance(error, LabError):
        return error.exit_code, str(error)
    if isinstance(error, MemoryError):
        return SpaceError.exit_code, f"out of memory ({error}); use a smaller batch or profile"
    return 130, "interrupted; the same command starts this stage again"


def _failed(exit_code: int, message: str, kind: str) -> int:
    if file := os.environ.get("TORCHELASTIC_ERROR_FILE"):
        report = {"message": message, "exit_code": exit_code, "kind": kind}
        extra = {"extraInfo": {"timestamp": str(int(time.time()))}}  # which torch insists on
        Path(file).write_text(json.dumps({"message": report | extra}))
        return exit_code
    for line in message.splitlines():
        print(f"ERROR: {line}", file=sys.stderr)
    with contextlib.suppress(LabError):  # a read-only folder must not hide the first error
        write_json(ERROR_FILE, {"exit_code": exit_code, "message": message})
    return exit_code


class StopRequest:
    """Catches the first SIGTERM or Ctrl-C, so that work can end in good order.

    `signal_number` is 0 until then. A second signal ends the process at once.
    """

    def __init__(self) -> None:
        """Start without a signal."""
        self.signal_number = 0

    def __enter__(self) -> "StopRequest":
        """Catch the signals from now on."""
        self._before = {
            number: signal.signal(number, self._hear) for number in (signal.SIGINT, signal.SIGTERM)
        }
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        where: TracebackType | None,
    ) -> None:
        """Restore the handlers of before."""
        for number, handler in self._before.items():
            signal.signal(number, handler)

    def _hear(self, number: int, frame: FrameType | None) -> None:
        self.signal_number = number
        for other in self._before:
            signal.signal(other, signal.SIG_DFL)
