"""How a child process starts: `python -m lab.machine.child MODULE [ARGUMENT ...]` runs a module.

The process ends when its launcher does, however that ends. This file imports nothing heavy, so that
the children of a launcher that dies end even while they are still importing torch.
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
    """Python's arguments that run a module as a child."""
    return ["-m", "lab.machine.child", module, *arguments]


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
    """Follow the launcher and run the module that the command line names.

    A signal ends the process without a word until the module handles it: the launcher has spoken.
    """
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda number, frame: os._exit(128 + number))
    follow(int(os.environ[LAUNCHER_VARIABLE]))
    module, *arguments = sys.argv[1:]
    sys.argv = [module, *arguments]
    runpy.run_module(module, run_name="__main__", alter_sys=True)


if __name__ == "__main__":
    main()
