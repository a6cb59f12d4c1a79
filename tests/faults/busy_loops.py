"""Other processes that compute without end, and who sees them."""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import psutil

from lab.timing.conditions import Watch

LOOP = "while True: pass"
LAUNCHER = """
import subprocess, sys
quiet = dict.fromkeys(("stdout", "stderr"), subprocess.DEVNULL)
for _ in range(int(sys.argv[2])):
    print(subprocess.Popen([sys.executable, "-c", sys.argv[1]], **quiet).pid)
"""


class FastWatch(Watch):
    """A real one, that does not measure how fast the machine is."""

    def speed(self) -> tuple[float, float]:
        return 1.0, 1.0


@contextmanager
def others_busy(loops: int) -> Iterator[None]:
    """Have loops run that are no children of this process: their launcher is gone."""
    command = [sys.executable, "-c", LAUNCHER, LOOP, str(loops)]
    launched = subprocess.run(command, capture_output=True, check=True)
    processes = [psutil.Process(int(pid)) for pid in launched.stdout.split()]
    try:
        yield
    finally:
        for process in processes:
            process.kill()
