"""Run DVC as `invoke` does: with a forecast, and its stages' exit codes.

DVC runs in its own process, and its stages end with it. Inside `invoke`, a signal would have to be
passed on to a stage that may have had it already (a terminal's Ctrl-C), and a second signal cuts a
command short.
"""

import contextlib
import getpass
import json
import os
import shlex
import subprocess
import sys
import warnings
from collections.abc import Iterator, Sequence
from pathlib import Path

from lab.core.errors import MachineError, SpaceError
from lab.core.files import REPORTS
from lab.core.process import ERROR_FILE, Stopped, end_family, ends_with_this_process
from lab.core.stage_times import PLAN
from lab.machine.limits import killed
from lab.results.documents import disturbed_stages
from lab.tools.dvc_files import clear_stale_dvc_locks, running

CRASHED = 1  # DVC's exit code with a traceback
FAILED = 255  # DVC's exit code for a failed stage, whatever the stage's own
GRACE_S = 1.0  # for DVC to end by the signal that ends this process


@contextlib.contextmanager
def environment() -> Iterator[None]:
    """Set the environment variables that DVC and its stages need; restore the user's afterwards."""
    before = dict(os.environ)
    own = Path(sys.executable).parent
    os.environ["PATH"] = f"{own}{os.pathsep}{os.environ.get('PATH', '')}"
    os.environ["SHELL"] = "/bin/sh"  # DVC runs stages with it; a service's shell runs nothing
    os.environ.pop("DVC_STAGE", None)  # set if this runs inside a different pipeline's stage
    os.environ.pop("PYTHONWARNINGS", None)  # could turn the warnings of DVC's packages into errors
    if sys.warnoptions:
        warnings.simplefilter("ignore")
    try:
        getpass.getuser()
    except (KeyError, OSError):  # OSError since Python 3.13
        os.environ["USER"] = str(os.getuid())  # a container's user may have no name
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)


def foretell_and_repro(targets: Sequence[str] = (), force: bool = False) -> int:
    """Print how long `dvc repro` will take, run it, and return its exit code.

    Args:
        targets: stages, or runs as train@NAME; all if empty.
        force: run the targets and everything downstream although nothing changed.
    """
    from lab.tools.forecast import foretell, keep_as_committed  # these import DVC

    _clear(ERROR_FILE)
    plan = foretell(targets, force)
    if plan is None:
        return FAILED
    os.environ[PLAN] = " ".join(plan.stages)
    code = repro(*(("--force", "--downstream") if force else ()), *targets)
    if plan.is_whole and code == 0:
        keep_as_committed()
    return code


def remeasure_disturbed() -> int:
    """Measure again the stages with times that decide nothing, and return the exit code."""
    if found := disturbed_stages(REPORTS):
        return foretell_and_repro(found, force=True)
    print("all times that are here count; nothing to measure again")
    return 0


def repro(*words: str) -> int:
    """Run `dvc repro`; return the failed stage's exit code, or FAILED if no stage says why.

    Raises:
        MachineError: a DVC runs here already, which this one would stop at its next stage.
        SpaceError: a stage was killed.
    """
    _clear(ERROR_FILE)
    for pid, command in running().items():
        raise MachineError(f"`{command}` runs here (PID {pid}); wait for its end")
    code = _dvc("repro", *words)
    if code in (CRASHED, FAILED) and ERROR_FILE.is_file():
        error = json.loads(ERROR_FILE.read_text())
        if "killed" in error:
            what = killed(error["killed"])
            raise SpaceError(f"{what}; if DVC says 139 above, it crashed instead")
        return int(error["exit_code"])
    return FAILED if code == CRASHED else code


def _clear(path: Path) -> None:
    """Delete an earlier run's file, and a killed DVC's locks, on which this one would wait."""
    try:
        path.unlink(missing_ok=True)
        clear_stale_dvc_locks()
    except OSError as error:
        raise MachineError(
            f"{error.filename}: cannot be deleted ({error.strerror}); fix the permissions, or work"
            " in a copy that is yours"
        ) from None


def _dvc(*words: str) -> int:
    print(shlex.join(["dvc", *words]), flush=True)
    command = [sys.executable, "-m", "dvc", *words]
    process = subprocess.Popen(command, preexec_fn=ends_with_this_process())
    try:
        code = process.wait()
    except Stopped:
        end_family(process, GRACE_S)
        raise
    return code if code >= 0 else 128 - code
