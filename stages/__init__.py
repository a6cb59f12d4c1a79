"""A folder is a question, a DVC stage, and a command: `python -m stages.NAME`.

DVC starts a stage with the first `python` on PATH, which may not be the one that the lab is
installed in (a virtual environment that is not activated, say). Such a stage hands itself over to
the interpreter that DVC runs on, before anything is imported. And a command hears signals from its
first moments on, while it still imports.
"""

import os
import signal
import sys

IS_COMMAND = sys.argv[:1] == ["-m"]  # so it is while `python -m` imports the packages of its module
if IS_COMMAND:  # until there is somebody to say a line
    signal.signal(signal.SIGINT, lambda number, frame: os._exit(128 + number))

# ruff: noqa: E402
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path


def _interpreter_of_dvc() -> str | None:
    """The interpreter of the DVC process that started this one, if there is one (Linux only)."""
    pid = os.getppid()
    for _ in range(2):
        try:
            command = Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
            parent = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1]
        except OSError:
            return None
        if any(Path(os.fsdecode(word)).name == "dvc" for word in command[1:3]):
            return os.fsdecode(command[0])
        pid = int(parent)
    return None


def _hand_over_to_the_labs_interpreter() -> None:
    try:
        distribution("d2l-lab")
    except PackageNotFoundError:
        python = _interpreter_of_dvc()
        if python and Path(python).absolute() != Path(sys.executable).absolute():
            os.execv(python, [python, *sys.orig_argv[1:]])  # noqa: S606


if "DVC_STAGE" in os.environ:
    _hand_over_to_the_labs_interpreter()
if IS_COMMAND:
    from lab.core.exit_codes import from_the_start

    from_the_start()
