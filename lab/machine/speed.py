"""A fixed piece of work whose duration shows how fast this machine is right now; no torch.

Its parts take about equally long: starting a process that imports numpy, float32 products, new
memory and copies, and pure Python. First one process does the work on all cores, then two do it
concurrently on one core each: some stages gain from a second core, hardly any from more.
"""

import os
import subprocess
import sys
import time

from lab.core.errors import MachineError
from lab.machine.limits import usable_cores

WORK = """
import signal
signal.signal(signal.SIGINT, signal.SIG_DFL)  # no traceback
import numpy as np
x = np.ones((1024, 1024), np.float32)
for _ in range(12):
    x @ x
for _ in range(3):
    np.ones(2**23).copy()
for _ in range(2_500_000):
    pass
"""


def seconds_of_work() -> float:
    """Return the seconds that the work takes here, whatever else runs.

    Raises:
        MachineError: a process that does the work failed.
    """
    start = time.perf_counter()
    for processes, threads in ((1, usable_cores()), (2, 1)):
        limits = {f"{library}_NUM_THREADS": str(threads) for library in ("OMP", "OPENBLAS")}
        at_once = [
            subprocess.Popen([sys.executable, "-c", WORK], env=os.environ | limits)
            for _ in range(processes)
        ]
        codes = [process.wait() for process in at_once]
        if any(codes):
            raise MachineError("numpy fails in a process of its own; `invoke doctor` looks for it")
    return round(time.perf_counter() - start, 3)
