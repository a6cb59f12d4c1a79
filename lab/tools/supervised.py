"""Commands of `invoke` that end with everything below them when a signal asks invoke to end.

A terminal's Ctrl-C reaches invoke alone, since commands have a session of their own. DVC is not
told: its stage is, ends in good order, and DVC ends because the stage did, its files whole.
"""

import contextlib
import os
import signal
import time
from collections.abc import Iterator
from subprocess import PIPE, Popen
from typing import Any

import psutil
from invoke.runners import Local

from lab.core.signals import FRONT_DOOR_VARIABLE

PATIENCE_S = 9.0  # from the signal until whoever is left is killed
STAGELESS_S = 4.0  # that DVC may go on without a stage: it hashes, or writes its lock
POLL_S = 0.05


class Supervised(Local):
    """Runs a command; Stopped in this thread ends it and all its descendants, then goes on up."""

    _started: psutil.Process | None = None
    _command = ""

    def start(self, command: str, shell: str, env: dict[str, Any]) -> None:
        """Start the command, which can tell its stages whom not to outlive."""
        self._command = command
        env = env | {FRONT_DOOR_VARIABLE: str(os.getpid())}
        if self.using_pty:
            super().start(command, shell, env)
        else:
            self.process = Popen(
                [shell, "-c", command],
                env=env,
                stdin=PIPE,
                stdout=PIPE,
                stderr=PIPE,
                start_new_session=True,
            )
        with contextlib.suppress(psutil.NoSuchProcess):
            self._started = psutil.Process(self.get_pid())

    def send_interrupt(self, interrupt: KeyboardInterrupt) -> None:
        """End the command, and go on ending."""
        self._end(getattr(interrupt, "number", signal.SIGINT))
        raise interrupt

    def stop(self) -> None:
        """Leave nothing running, also where a signal came between start and wait."""
        super().stop()
        self._end(signal.SIGTERM)

    def _end(self, number: int) -> None:
        if self._started and _lives(self._started):
            is_dvc = self._command.startswith("dvc ")
            end_in_order(self._started, signal.SIGTERM if is_dvc else number, is_dvc)


def end_in_order(process: psutil.Process, number: int, is_dvc: bool) -> None:
    """Ask a command to end, wait for it and all that it started, and kill what is left.

    A second signal kills at once.
    """
    family = {process}
    try:
        _wait_for_the_end(process, number, is_dvc, family)
    finally:
        for each in family:
            with contextlib.suppress(psutil.NoSuchProcess):
                each.kill()


def _wait_for_the_end(
    process: psutil.Process, number: int, is_dvc: bool, family: set[psutil.Process]
) -> None:
    """Ask and wait; `family` collects every process that is seen below."""
    told: set[psutil.Process] = set()
    began = time.monotonic()
    while (waited := time.monotonic() - began) < PATIENCE_S and any(map(_lives, family)):
        with contextlib.suppress(psutil.NoSuchProcess):
            family |= set(process.children(recursive=True))
            asked = set(_stages_below(process)) if is_dvc else {process}
            if is_dvc and not asked and waited > STAGELESS_S:
                asked = {process}
            for each in asked - told:
                each.send_signal(number)
                told.add(each)
        time.sleep(POLL_S)


def _stages_below(process: psutil.Process) -> Iterator[psutil.Process]:
    """The first processes on each branch that run a stage."""
    for child in process.children():
        words = child.cmdline()
        if "-m" in words and any(word.startswith("stages.") for word in words):
            yield child
        else:
            yield from _stages_below(child)


def _lives(process: psutil.Process) -> bool:
    try:
        return process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False
