"""The start of a process that must not outlive the one that started it: `python -m
lab.parallel.rank MODULE [ARGUMENT ...]`.

It imports nothing heavy, so that a launcher that dies while its ranks are still importing torch
takes them along.
"""

import ctypes
import os
import runpy
import signal
import sys
import threading
import time

LAUNCHER_VARIABLE = "LAB_LAUNCHER_PID"  # the process that this one must not outlive
PR_SET_PDEATHSIG = 1
# the exit code of lab.core.errors.DistributedError, which is not imported before it is needed
ORPHANED = 7


def command(module: str, *arguments: str) -> list[str]:
    """Return the arguments of Python that run a module in this way."""
    return ["-m", "lab.parallel.rank", module, *arguments]


def follow(launcher: int) -> None:
    """End this process when `launcher`, its parent, is gone, however that went and even if it is
    gone already.
    """
    if sys.platform == "linux":  # the kernel sees to it at once
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
