"""How each command of the lab runs and ends: exit codes, signals, and its parent process."""

import contextlib
import ctypes
import importlib
import logging
import multiprocessing
import os
import signal
import subprocess
import sys
import threading
import time
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path
from types import FrameType
from typing import Any

import psutil
from tqdm import tqdm

from lab.core.errors import LabError, MachineError, SpaceError
from lab.core.files import write_json
from lab.core.gpu_errors import gpu_error
from lab.core.params import unchanged
from lab.core.stage_times import announce, remember

# DVC turns every exit code into 255; `invoke repro` finds the real one here
ERROR_FILE = Path(".lab/last_error.json")
INTERRUPTED = "interrupted; the same command resumes"
BROKEN_PIPE = 141  # as of a process that SIGPIPE ends
ORPHANED = 143
RANK_MARK = "TORCHELASTIC_RUN_ID"  # in the environment of each rank that torchrun starts
POLL_S = 0.5
MORE_OPEN_FILES = "too many open files for this shell's limit; `ulimit -n 4096`"
PATIENCE_S = 10.0  # from a signal until what is left is killed
SHELLS = ("sh", "bash", "dash", "zsh", "fish", "ksh")
PR_SET_PDEATHSIG = 1  # of Linux's prctl

# what modules do at the start of a program that has imported them: it has no threads yet
AT_START: list[Callable[[], None]] = []

# stages/__init__.py imports this module before torch, which takes seconds
_BEGAN = time.monotonic()
_STOP_ASKED = threading.Event()  # a signal was heard


def _starter() -> psutil.Process | None:
    """Return the parent process, skipping the shell that DVC runs stages in; None if unreadable."""
    with contextlib.suppress(psutil.Error):
        above = psutil.Process().parent()
        while above is not None and above.name() in SHELLS:
            above = above.parent()
        return above
    return None


_STARTER = _starter()


def run(main: Callable[[], None]) -> int:
    """Run `main` and return the exit code.

    0, a LabError's own, 8 when out of memory, a GPU's too, 4 when out of open files or a GPU fails,
    or 128 + n after signal n.
    An error is printed as one line for each mistake, with LAB_DEBUG after its traceback. A stage
    that DVC started also tells and keeps how long it takes.
    """
    open_standard_streams()
    logging.basicConfig(level=logging.INFO, format="%(message)s", stream=sys.stdout)
    logging.raiseExceptions = False  # `| head` is no reason for a traceback for each line
    # tqdm's own lock is a semaphore for several processes, which a killed one leaves behind
    tqdm.set_lock(threading.RLock())
    is_program = main.__module__ == "__main__"
    main = _importable(main)
    for each in AT_START if is_program else ():
        each()
    is_rank = RANK_MARK in os.environ
    stage = None if is_rank else os.environ.get("DVC_STAGE")
    try:
        with raise_signals():
            if stage or is_rank:
                die_with_parent()
            if stage:
                announce(stage)
            with unchanged(), _said_if_killed(stage):
                main()
            if stage:
                remember(stage, time.monotonic() - _BEGAN)
                _tell_answer(stage)
        sys.stdout.flush()
    except BrokenPipeError:  # nobody reads on
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return BROKEN_PIPE
    except (LabError, MemoryError, KeyboardInterrupt, OSError, RuntimeError) as error:
        explained = _explain(error)
        if explained is None:
            raise
        if os.environ.get("LAB_DEBUG"):
            traceback.print_exc()
        return _failed(*explained)
    return 0


@contextlib.contextmanager
def _said_if_killed(stage: str | None) -> Iterator[None]:
    """Write "killed" to ERROR_FILE while a stage runs, since SIGKILL leaves no time to write it."""
    if stage:
        write_json(ERROR_FILE, {"exit_code": SpaceError.exit_code, "killed": stage})
    try:
        yield
    finally:
        if stage:
            ERROR_FILE.unlink(missing_ok=True)


def _tell_answer(stage: str) -> None:
    """Print the answer of a stage; a failure to print it leaves the results valid.

    The module is imported by name, so that results do not depend on the report's code.
    """
    try:
        lines = importlib.import_module("stages.report.answer").answer(stage)
    except Exception as error:
        if os.environ.get("LAB_DEBUG"):
            raise
        lines = [f"# {stage}: no answer ({type(error).__name__}); its page says why"]
    print(*lines, sep="\n", end="\n" if lines else "", flush=True)


def open_standard_streams() -> None:
    """Make a stream of each standard one that was closed when this process started (`>&-`).

    Python has None there, and so would DVC. Its number is /dev/null since lab/__init__.py.
    """
    for number, (name, mode) in enumerate({"stdin": "r", "stdout": "w", "stderr": "w"}.items()):
        if getattr(sys, name) is None:
            setattr(sys, name, os.fdopen(number, mode, closefd=False))


def _importable(main: Callable[[], None]) -> Callable[[], None]:
    """Return `main` from the module under its own name instead of `__main__`.

    Other processes cannot unpickle functions of the `__main__` of a package.
    """
    program = getattr(sys.modules["__main__"], "__spec__", None)
    if program is None or main.__module__ != "__main__":
        return main
    found: Callable[[], None] = getattr(importlib.import_module(program.name), main.__name__)
    return found


def _explain(error: BaseException) -> tuple[int, str] | None:
    """Return the exit code and the lines that say what happened and what to do; None for a bug."""
    if lacks_open_files(error):
        return MachineError.exit_code, MORE_OPEN_FILES
    if found := gpu_error(error):
        return found.exit_code, str(found)
    if isinstance(error, OSError | RuntimeError):
        return None
    if isinstance(error, LabError):
        return error.exit_code, str(error)
    if isinstance(error, MemoryError):
        return SpaceError.exit_code, f"out of memory ({error}); use a smaller batch or profile"
    number = error.number if isinstance(error, Stopped) else signal.SIGINT
    return 128 + number, INTERRUPTED


def lacks_open_files(error: BaseException) -> bool:
    """Return whether the error, from Python or torch, means too many open files."""
    return "Too many open files" in str(error)


def _failed(exit_code: int, message: str) -> int:
    for line in message.splitlines():
        print(f"ERROR: {line}", file=sys.stderr)
    with contextlib.suppress(LabError):  # a read-only folder must not hide the first error
        write_json(ERROR_FILE, {"exit_code": exit_code, "message": message})
    return exit_code


class Stopped(KeyboardInterrupt):
    """Raised in the main thread on SIGINT, SIGTERM or SIGHUP."""

    def __init__(self, number: int) -> None:
        super().__init__()
        self.number = number


@contextlib.contextmanager
def raise_signals() -> Iterator[None]:
    """Raise Stopped on the first signal; a second SIGINT or SIGTERM ends the process immediately.

    A later SIGHUP does not: when `invoke` has ended, Linux sends one to a stage that is still
    cleaning up. Ignored signals, such as SIGHUP under nohup, stay ignored. Windows has no SIGHUP.
    """
    hang_up = getattr(signal, "SIGHUP", None)
    numbers = filter(None, (signal.SIGINT, signal.SIGTERM, hang_up))
    before = {number: signal.getsignal(number) for number in numbers}
    heard = {number: old for number, old in before.items() if old is not signal.SIG_IGN}

    def stop(number: int, frame: FrameType | None) -> None:
        _STOP_ASKED.set()
        for each in heard:
            signal.signal(each, signal.SIG_IGN if each == hang_up else signal.SIG_DFL)
        raise Stopped(number)

    def stop_again(ignored: "sys.UnraisableHookArgs") -> None:
        """Resend the signal if Python ignored Stopped, as in fork callbacks and `__del__`."""
        if not isinstance(ignored.exc_value, Stopped):
            report(ignored)
            return
        number = ignored.exc_value.number
        signal.signal(number, stop)
        threading.Timer(POLL_S, os.kill, (os.getpid(), number)).start()

    report, sys.unraisablehook = sys.unraisablehook, stop_again
    for number in heard:
        signal.signal(number, stop)
    try:
        yield
    finally:
        for number, old in heard.items():
            signal.signal(number, old)
        sys.unraisablehook = report


def die_with_parent() -> None:
    """End this process when its launcher is gone: an orphan would write during the next run.

    It gets SIGTERM, unless it is already ending by a signal, which a second one would cut short.
    If it has not ended after PATIENCE_S, it exits.
    """
    launcher = multiprocessing.parent_process()  # which a fork server may stand between

    def watch() -> None:
        if launcher is not None:
            launcher.join()
        else:
            while _starter() == _STARTER:
                time.sleep(POLL_S)
        if not _STOP_ASKED.is_set():
            os.kill(os.getpid(), signal.SIGTERM)
        time.sleep(PATIENCE_S)
        os._exit(ORPHANED)

    threading.Thread(target=watch, daemon=True).start()


def ends_with_this_process() -> Callable[[], None] | None:
    """Return a `preexec_fn` that has Linux send a child SIGTERM when this process is gone."""
    if sys.platform != "linux":
        return None
    libc = ctypes.CDLL(None)
    return lambda: libc.prctl(PR_SET_PDEATHSIG, signal.SIGTERM)


def end_family(process: subprocess.Popen[Any], grace_s: float = 0.0) -> None:
    """End a process and its descendants, and kill those that remain.

    The process gets SIGTERM, unless it ends by itself within `grace_s`.
    """
    family: list[psutil.Process] = []
    with contextlib.suppress(psutil.NoSuchProcess):  # it has ended already
        first = psutil.Process(process.pid)
        family = [first, *first.children(recursive=True)]
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(grace_s)
    process.terminate()
    for left in psutil.wait_procs(family, timeout=PATIENCE_S)[1]:
        with contextlib.suppress(psutil.NoSuchProcess):
            left.kill()
    process.wait()
