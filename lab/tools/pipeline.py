"""Run DVC as `invoke` does: with a forecast, advice, and its stages' exit codes.

DVC has a process of its own, and its stages end with it. In the process of `invoke`, a signal would
have to be passed on to a stage that may have had it already, as from a terminal's Ctrl-C, and a
second one cuts a command short.
"""

import contextlib
import ctypes
import getpass
import json
import os
import shlex
import signal
import subprocess
import sys
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path

from lab.core.errors import MachineError
from lab.core.process import ERROR_FILE, Stopped, end_family
from lab.tools.dvc_files import clear_stale_dvc_locks

FAILED = 255  # DVC's exit code for a stage that failed, whatever the stage's own
GRACE_S = 1.0  # in which DVC may end by the signal that ends this process
PR_SET_PDEATHSIG = 1  # of Linux's prctl


@contextlib.contextmanager
def environment() -> Iterator[None]:
    """Have what DVC and its stages need in the environment; afterwards it is the user's again."""
    before = dict(os.environ)
    own = Path(sys.executable).parent
    os.environ["PATH"] = f"{own}{os.pathsep}{os.environ.get('PATH', '')}"
    os.environ["SHELL"] = "/bin/sh"  # by which DVC runs stages; a service's own runs nothing
    if "error" in os.environ.get("PYTHONWARNINGS", ""):  # DVC's packages warn
        del os.environ["PYTHONWARNINGS"]
        warnings.simplefilter("default")
    try:
        getpass.getuser()
    except (KeyError, OSError):  # the second from Python 3.13 on
        os.environ["USER"] = str(os.getuid())  # a container's user has a number and no name
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)


def foretell_and_repro(target: str = "", force: bool = False) -> int:
    """Say how long `dvc repro` will take, run it, and say what to measure again.

    Args:
        target: a stage, or a run as train@NAME; all if empty.
        force: run the target and what follows from it although nothing changed.
    """
    from lab.tools.forecast import foretell, keep_as_committed  # which import DVC
    from lab.tools.measure_again import advice, timed

    _clear(ERROR_FILE)
    is_whole = foretell(target, force)
    options, before = ("--force", "--downstream") if force else (), timed()
    code = repro(*options, *filter(None, [target]))
    if is_whole and code == 0:
        keep_as_committed()
    if code == 0 and (line := advice(before, timed())):
        print(line, flush=True)
    return code


def repro(*words: str) -> int:
    """Run `dvc repro`; the failed stage's own exit code, or FAILED where no stage says why."""
    _clear(ERROR_FILE)
    code = _dvc("repro", *words)
    if code == FAILED and ERROR_FILE.is_file():
        return int(json.loads(ERROR_FILE.read_text())["exit_code"])
    return code


def _clear(path: Path) -> None:
    """Delete what an earlier run left, and locks of a killed DVC, for which this one would wait."""
    try:
        path.unlink(missing_ok=True)
        clear_stale_dvc_locks()
    except OSError as error:
        raise MachineError(
            f"{error.filename}: cannot be deleted ({error.strerror}); mend the permissions, or work"
            " in a copy that is yours"
        ) from None


def _dvc(*words: str) -> int:
    print(shlex.join(["dvc", *words]), flush=True)
    command = [sys.executable, "-m", "lab.tools.dvc", *words]
    process = subprocess.Popen(command, preexec_fn=_end_with_parent())
    try:
        code = process.wait()
    except Stopped:
        end_family(process, GRACE_S)
        raise
    return code if code >= 0 else 128 - code


def _end_with_parent() -> Callable[[], None] | None:
    """What a process does before it starts: ask Linux for SIGTERM when this one is killed."""
    if sys.platform != "linux":
        return None
    libc = ctypes.CDLL(None)
    return lambda: libc.prctl(PR_SET_PDEATHSIG, signal.SIGTERM)
