"""How every command of the lab ends: with 0, or with an error on stderr and its exit code."""

import contextlib
import json
import logging
import os
import shlex
import sys
import time
from collections.abc import Callable
from pathlib import Path
from types import TracebackType

from lab.core import signals
from lab.core.errors import LabError, MachineError, SpaceError
from lab.core.files import write_json

# DVC turns every exit code into 255: `invoke repro` finds the real one here
ERROR_FILE = Path(".lab/last_error.json")


INTERRUPTED = "interrupted; the same command goes on"
BROKEN_PIPE = 141  # as of a process that SIGPIPE ends

_LAST_CHECKS: list[Callable[[], None]] = []


def from_the_start() -> None:
    """Have signals end this process with one line from now on, also before `run` is reached.

    So does a package that is not there, or not as the lab needs it: what a command imports.
    """
    signals.from_the_start(lambda number: _failed(128 + number, INTERRUPTED, kind="StoppedError"))
    sys.excepthook = _not_imported


def _not_imported(
    kind: type[BaseException], error: BaseException, where: TracebackType | None
) -> None:
    """End with a line about what does not import; everything else is an error of ours."""
    name = str(getattr(error, "name", None) or "")
    library = issubclass(kind, OSError) and ".so" in str(error)  # one that was built for another
    if not (issubclass(kind, ImportError) or library) or os.environ.get("LAB_DEBUG"):
        sys.__excepthook__(kind, error, where)
        return
    install = f"{shlex.quote(sys.executable)} -m pip install -e . -c constraints.txt"
    ours = name.startswith(("lab", "stages"))
    message = f"{' '.join(str(error).split())}; {'`invoke doctor`' if ours else install}"
    os._exit(_failed(MachineError.exit_code, message, kind.__name__))


def before_success(check: Callable[[], None]) -> None:
    """Have `run` call `check` when its main has returned; what that raises fails the command."""
    _LAST_CHECKS.append(check)


def run(main: Callable[[], None]) -> int:
    """Run `main`; the exit code is 0, a LabError's own, 8 when out of memory, 128 + n for signal n.

    A LabError is printed as one line per mistake; with LAB_DEBUG set it is raised, with its
    traceback. In one of several processes of a run, the launcher prints it instead.
    """
    logging.basicConfig(level=logging.INFO, format="%(message)s", stream=sys.stdout)
    logging.raiseExceptions = False  # `| head` is no reason for a traceback per line
    _LAST_CHECKS.clear()
    try:
        with signals.raised():
            main()
            for check in _LAST_CHECKS:
                check()
        sys.stdout.flush()
    except BrokenPipeError:  # nobody reads on
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return BROKEN_PIPE
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
    number = error.number if isinstance(error, signals.Stopped) else 2
    return 128 + number, INTERRUPTED


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
