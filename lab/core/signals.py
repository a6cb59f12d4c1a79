"""Ctrl-C, SIGTERM and a closed terminal: one line, 130, 143 or 129, an end within seconds.

A stage that DVC started also stops when DVC, or the `invoke` above it, is gone, however that ended.
"""

import contextlib
import os
import select
import signal
import sys
import threading
import time
from collections.abc import Callable, Container, Iterator, Mapping
from pathlib import Path
from types import FrameType, TracebackType
from typing import Any

FRONT_DOOR_VARIABLE = "LAB_FRONT_DOOR_PID"  # of the `invoke` that a stage must not outlive
GRACE_S = 7.0  # from a signal to the end of a process that does not come to it by itself
POLL_S = 0.5

Handler = Callable[[int, FrameType | None], object]


def install(handler: Handler) -> dict[int, Any]:
    """Have `handler` hear the signals that ask a process to end; returns the handlers of before.

    Those that are ignored, as under nohup, stay so.
    """
    numbers = [signal.SIGINT, signal.SIGTERM, getattr(signal, "SIGHUP", signal.SIGTERM)]
    before = {number: signal.getsignal(number) for number in numbers}
    heard = {number: old for number, old in before.items() if old is not signal.SIG_IGN}
    for number in heard:
        signal.signal(number, handler)
    return heard


def restore(handlers: Mapping[int, Any]) -> None:
    """Bring the handlers of before back."""
    for number, handler in handlers.items():
        signal.signal(number, handler)


class Stopped(KeyboardInterrupt):
    """A signal asks the process to end: a KeyboardInterrupt, after which everybody cleans up."""

    def __init__(self, number: int) -> None:
        """Remember which."""
        super().__init__()
        self.number = number


class StopRequest:
    """Catches the first signal that asks for an end, so that work can end in good order.

    `signal_number` is 0 until then. A second signal ends the process at once.
    """

    def __init__(self) -> None:
        """Start without a signal."""
        self.signal_number = 0

    def __enter__(self) -> "StopRequest":
        """Catch the signals from now on."""
        self._before = install(self._hear)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        where: TracebackType | None,
    ) -> None:
        """Restore the handlers of before."""
        restore(self._before)

    def _hear(self, number: int, frame: FrameType | None) -> None:
        self.signal_number = number
        restore(dict.fromkeys(self._before, signal.SIG_DFL))


def from_the_start(end: Callable[[int], object]) -> None:
    """Have signals call `end`, which says a line, and end the process at once.

    For the seconds in which a process imports, with nothing at stake. Whatever handles signals
    later, a thread ends the process by `end` if a signal has not done so after GRACE_S.
    """

    def end_at_once(number: int, frame: FrameType | None = None) -> None:
        end(number)
        os._exit(128 + number)

    numbers = install(end_at_once)
    watch = threading.Thread(
        target=_watch, args=(_signals_heard(), numbers, end_at_once), daemon=True
    )
    watch.start()
    os.register_at_fork(after_in_child=_forget)


def _forget() -> None:
    """In a forked process, which has nobody to tell: a signal ends it without a word."""
    signal.set_wakeup_fd(-1)
    install(lambda number, frame: os._exit(128 + number))


@contextlib.contextmanager
def raised() -> Iterator[None]:
    """Have a signal raise Stopped in the main thread, and a second one end the process."""

    def stop(number: int, frame: FrameType | None) -> None:
        restore(dict.fromkeys(before, signal.SIG_DFL))
        raise Stopped(number)

    before = install(stop)
    try:
        yield
    finally:
        restore(before)


def _signals_heard() -> int:
    """A pipe that receives each signal's number when it arrives, also in the midst of C code."""
    heard, told = os.pipe()
    os.set_blocking(told, False)
    signal.set_wakeup_fd(told, warn_on_full_buffer=False)
    return heard


def _watch(heard: int, numbers: Container[int], end: Callable[[int], object]) -> None:
    """End the process GRACE_S after a signal, and send it SIGTERM when its launchers are gone."""
    launchers = _launchers()
    number = 0
    while not number:
        if any(gone() for gone in launchers):
            os.kill(os.getpid(), signal.SIGTERM)
        if select.select([heard], [], [], POLL_S)[0]:
            number = next((each for each in os.read(heard, 16) if each in numbers), 0)
    time.sleep(GRACE_S)
    end(number)


def _launchers() -> list[Callable[[], bool]]:
    """For each process that this one must not outlive, a function that says whether it is gone."""
    found: list[Callable[[], bool]] = []
    if "DVC_STAGE" in os.environ:
        parent = os.getppid()
        found.append(lambda: os.getppid() != parent)
    if front_door := os.environ.get(FRONT_DOOR_VARIABLE):
        found.append(lambda: not _is_above(int(front_door)))
    return found


def _is_above(pid: int) -> bool:
    """Whether a process is among this one's ancestors; where nobody can tell, it is."""
    if sys.platform != "linux":
        return True
    above = os.getppid()
    with contextlib.suppress(OSError):  # an ancestor that ends while we look: the next look sees it
        while above not in (0, pid):
            stat = Path(f"/proc/{above}/stat").read_text()
            above = int(stat.rpartition(")")[2].split()[1])
        return above == pid
    return True
