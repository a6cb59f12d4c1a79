"""What `dvc repro` says of its end, and a copy of dvc.lock that no kill can halve.

DVC writes its lock file in place: where it is killed there, `invoke repro` and the doctor have the
copy.
"""

import re
import signal
from pathlib import Path

from lab.core.files import write_atomically
from lab.tools.stage_times import RUNNING

LOCK_FILE = Path("dvc.lock")
LAST_GOOD = Path(".lab/dvc.lock.good")
FAILED = re.compile(r"exited with (-?\d+)$")
BUSY = re.compile(r"is busy, it is being blocked|Unable to acquire lock")
A_STAGE_FAILED, INTERRUPTED = 255, 252  # DVC's own exit codes


class DvcWords:
    """What DVC said, line by line.

    Attributes:
        failed_with: the exit code of the stage that failed, negative where a signal ended it.
        busy: another DVC works in this project.
    """

    def __init__(self) -> None:
        """Hear nothing yet."""
        self.failed_with, self.busy = 0, False

    def hear(self, line: str) -> None:
        """Hear a line; before a stage runs the lock file is whole."""
        if found := FAILED.search(line):
            self.failed_with = int(found[1])
        self.busy |= BUSY.search(line) is not None
        if RUNNING.match(line):
            keep_lock_file()

    def exit_code(self, of_dvc: int) -> int:
        """What DVC's exit code stands for: 128 + n where signal n ended the stage or DVC."""
        if of_dvc == INTERRUPTED:
            return 128 + signal.SIGINT
        if of_dvc == A_STAGE_FAILED and self.failed_with:
            return self.failed_with if self.failed_with > 0 else 128 - self.failed_with
        return of_dvc


def keep_lock_file() -> None:
    """Keep a copy of the lock file, which DVC is not writing now."""
    if LOCK_FILE.is_file():
        write_atomically(LAST_GOOD, LOCK_FILE.read_bytes())
