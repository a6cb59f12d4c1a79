"""Named moments at which a test can end, stop or trip a process: LAB_FAIL_POINT.

`LAB_FAIL_POINT='rename models/*.pt:2=kill'` kills the process when it is about to rename such a
file for the second time. Left of the equals sign is a pattern of `<moment> <what it is about>`,
perhaps with a count, right of it one of ACTIONS, or `note:FILE`, which writes down every moment
that the pattern matches. Moments are `write`, `fsync`, `rename`, `renamed` and `delete` of a path,
`step` and `collective` of a rank. Without the variable a moment costs one comparison.
"""

import errno
import os
import signal
import time
from collections.abc import Callable
from fnmatch import fnmatchcase
from pathlib import Path

VARIABLE = "LAB_FAIL_POINT"


def _fails_with(number: int) -> Callable[[], None]:
    def fail() -> None:
        raise OSError(number, os.strerror(number))

    return fail


ACTIONS: dict[str, Callable[[], None]] = {
    "kill": lambda: os.kill(os.getpid(), signal.SIGKILL),
    "term": lambda: os.kill(os.getpid(), signal.SIGTERM),
    "int": lambda: os.kill(os.getpid(), signal.SIGINT),
    "stop": lambda: os.kill(os.getpid(), signal.SIGSTOP),
    "sleep": lambda: time.sleep(3600),
    "no-space": _fails_with(errno.ENOSPC),
    "no-permission": _fails_with(errno.EACCES),
}


class Plan:
    """What LAB_FAIL_POINT asks for, and how often its moment has come in this process."""

    def __init__(self, text: str) -> None:
        """Read a plan.

        Raises:
            ValueError: no such action, or not of the form `pattern[:count]=action`.
        """
        moment, _, action = text.rpartition("=")
        pattern, _, count = moment.rpartition(":")
        self._pattern, self._count = (pattern, int(count)) if pattern else (moment, 0)
        self._note = Path(action.removeprefix("note:")) if action.startswith("note:") else None
        if not moment or not (self._note or action in ACTIONS):
            raise ValueError(f"{VARIABLE}: expected PATTERN[:COUNT]=ACTION, got {text!r}")
        self._act = ACTIONS.get(action)
        self._reached = 0

    def reach(self, moment: str) -> None:
        """Act if it is the moment."""
        if not fnmatchcase(moment, self._pattern):
            return
        if self._note:
            with self._note.open("a") as file:
                file.write(f"{moment}\n")
        self._reached += 1
        if self._act and self._count in (0, self._reached):
            self._act()


_PLAN = Plan(os.environ[VARIABLE]) if VARIABLE in os.environ else None


def reach(moment: str, path: Path | None = None) -> None:
    """Say that the process is at such a moment, before it does what the moment is named for."""
    if _PLAN is not None:
        _PLAN.reach(f"{moment} {path or 'rank ' + os.environ.get('RANK', '0')}")
