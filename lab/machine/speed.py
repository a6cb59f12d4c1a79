"""A fixed piece of work, whose seconds say how fast this machine is right now; without torch.

Its four parts took about as long as each other on the machine of the committed run: starting a
process that imports numpy, float32 products, fresh memory and copies, and Python. Their seconds add
up, so that the part in which a machine is slowest counts most.
"""

import os
import subprocess
import sys
import time

from lab.machine.limits import usable_cores

WORK = """
import numpy as np
x = np.ones((1024, 1024), np.float32)
for _ in range(12):
    x @ x
for _ in range(3):
    np.ones(2**23).copy()
for _ in range(2_500_000):
    pass
"""
TIMES = 2  # half a second each


def seconds_of_work() -> float:
    """The seconds that the work takes here, on all usable cores, whatever else runs."""
    cores = str(usable_cores())
    environment = os.environ | {"OMP_NUM_THREADS": cores, "OPENBLAS_NUM_THREADS": cores}
    start = time.perf_counter()
    for _ in range(TIMES):
        subprocess.run([sys.executable, "-c", WORK], env=environment, check=True)
    return round((time.perf_counter() - start) / TIMES, 3)
