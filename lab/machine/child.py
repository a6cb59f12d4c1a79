"""How a child process starts: `python -m lab.machine.child MODULE [ARGUMENT ...]` runs a module.

The process ends when its launcher does, however that ends. This file imports nothing heavy, so that
the children of a launcher that dies end even while they are still importing torch.
"""

import ctypes
import json
import os
import runpy
import signal
import subprocess
import sys
import threading
import time
from typing import Any

LAUNCHER_VARIABLE = "LAB_LAUNCHER_PID"  # the process that this one must not outlive
REPLY = "reply: "  # before a child's answer in its output
PR_SET_PDEATHSIG = 1
# the exit code of lab.core.errors.DistributedError, which is not imported before it is needed
ORPHANED = 7


def command(module: str, *arguments: str) -> list[str]:
    """Python's arguments that run a module as a child."""
    return ["-m", "lab.machine.child", module, *arguments]


def environment() -> dict[str, str]:
    """This process's environment variables, for a child that follows it."""
    return os.environ | {LAUNCHER_VARIABLE: str(os.getpid())}


def answer(module: str, *arguments: str) -> Any:
    """What a module that runs as a child says by `reply`.

    Raises:
        LabError: it failed, or said nothing.
    """
    from lab.core.errors import LabError  # a child needs none

    asked = [sys.executable, *command(module, *arguments)]
    result = subprocess.run(
        asked, stdout=subprocess.PIPE, text=True, env=environment(), check=False
    )
    lines = [line for line in result.stdout.splitlines() if line.startswith(REPLY)]
    if result.returncode or not lines:
        raise LabError(
            f"{' '.join([module, *arguments])} ended with code {result.returncode}; its own words"
            " are above"
        )
    return json.loads(lines[-1].removeprefix(REPLY))


def reply(value: Any) -> None:
    """Say a value that JSON can hold to the launcher that waits for an `answer`."""
    print(REPLY + json.dumps(value), flush=True)


def follow(launcher: int) -> None:
    """End this process as soon as `launcher`, its parent, is gone, even if it already is."""
    if sys.platform == "linux":  # there the kernel does it, at once
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != launcher:
        os._exit(ORPHANED)

    def watch() -> None:
        while os.getppid() == launcher:
            time.sleep(0.5)
        os._exit(ORPHANED)

    threading.Thread(target=watch, daemon=True).start()


def main() -> None:
    """Follow the launcher and run the module that the command line names."""
    follow(int(os.environ[LAUNCHER_VARIABLE]))
    module, *arguments = sys.argv[1:]
    sys.argv = [module, *arguments]
    runpy.run_module(module, run_name="__main__", alter_sys=True)


if __name__ == "__main__":
    main()
